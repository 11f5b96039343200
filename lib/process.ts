/** Next.js bundles its own copy of lib/; values that must exist once per process live on the global object. */
const key = Symbol.for("countersign.process");

type SharedState = Record<string, unknown>;

/** Creates a value once per process. All copies of lib/ in the process share it. */
export function perProcess<T>(name: string, create: () => T): T {
  const holder = globalThis as unknown as { [key]?: SharedState };
  const shared = (holder[key] ??= {});
  return (shared[name] ??= create()) as T;
}

/** Drops a value, for the shutdown and for tests that open a fresh one. */
export function forget(name: string): void {
  const shared = (globalThis as unknown as { [key]?: SharedState })[key];
  if (shared) delete shared[name];
}

/** Drops everything, for tests of many files in one process. */
export function forgetAll(): void {
  Reflect.deleteProperty(globalThis, key);
}
