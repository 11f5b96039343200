/** Next.js bundles its own copy of lib/. So a value that must exist once per process is stored in the global object. */
const key = Symbol.for("countersign.process");

type SharedState = Record<string, unknown>;

/**
 * @param name the path of the calling file below lib/ without its ending, then a space and more words if the file keeps several
 * values. The linter checks it, because two files that used one name would get each other's value.
 */
export function perProcess<T>(name: string, create: () => T): T {
  const holder = globalThis as unknown as { [key]?: SharedState };
  const shared = (holder[key] ??= {});
  return (shared[name] ??= create()) as T;
}

/** Removes these values, and those whose names continue them after a space, so that the path of a file removes all it keeps. */
export function forget(...names: readonly string[]): void {
  const shared = (globalThis as unknown as { [key]?: SharedState })[key] ?? {};
  const isNamed = (key: string) => names.some((name) => key === name || key.startsWith(`${name} `));
  for (const key of Object.keys(shared)) if (isNamed(key)) delete shared[key];
}

/** Removes all values, for tests. */
export function forgetAll(): void {
  Reflect.deleteProperty(globalThis, key);
}
