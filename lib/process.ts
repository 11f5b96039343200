/** Next.js bundles its own copy of lib/. So a value that must exist once per process is stored in the global object. */
const key = Symbol.for("countersign.process");

type SharedState = Record<string, unknown>;

export function perProcess<T>(name: string, create: () => T): T {
  const holder = globalThis as unknown as { [key]?: SharedState };
  const shared = (holder[key] ??= {});
  return (shared[name] ??= create()) as T;
}

export function forget(name: string): void {
  const shared = (globalThis as unknown as { [key]?: SharedState })[key];
  if (shared) delete shared[name];
}

/** Removes all values, for tests. */
export function forgetAll(): void {
  Reflect.deleteProperty(globalThis, key);
}
