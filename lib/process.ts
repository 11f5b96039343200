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

/** Set by the command of the package; its folder `dist` has everything that the programs read. */
const packaged = (): string | undefined => process.env["COUNTERSIGN_HOME"];

/** The folder with migrations, pages and programs: of the package, or else of the sources, which is the working directory. */
export const home = (): string => packaged() ?? process.cwd();

/** Whether everything was built when the package was made. Then nothing is built at a start. */
export const isPackaged = (): boolean => packaged() !== undefined;

/** How a person runs a program from here, such as "npm run chain:deploy" or "countersign-server chain-deploy". */
export const commandFor = (name: string): string =>
  isPackaged() ? `countersign-server ${name.replace(":", "-")}` : `npm run ${name}`;
