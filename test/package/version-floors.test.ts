import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";

type Locked = {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Record<string, string>;
};
type Lock = { readonly packages: Record<string, Locked> };

const root = new URL("../..", import.meta.url);
const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(new URL(path, root), "utf8")) as T;
const numbers = (version: string): number[] => version.split(/[.-]/).slice(0, 3).map(Number);

function atLeast(version: string, floor: string): boolean {
  const [have, want] = [numbers(version), numbers(floor)];
  for (const [at, number] of want.entries()) if (have[at] !== number) return (have[at] ?? 0) > number;
  return true;
}

const floors = await json<Record<string, string>>("test/package/version-floors.json");
const lock = await json<Lock>("package-lock.json");
const manifest = await json<Record<"dependencies" | "devDependencies", Record<string, string>>>("package.json");

describe("the supply chain", () => {
  test.each(Object.entries(floors))("no copy of %s is older than %s", (name, floor) => {
    const copies = Object.entries(lock.packages).filter(([path]) => path.endsWith(`node_modules/${name}`));
    expect(copies.length).toBeGreaterThan(0);
    for (const [, { version }] of copies) expect(atLeast(version ?? "0", floor), `${name} ${version}`).toBe(true);
  });

  test("every dependency is pinned to one version", () => {
    const versions = { ...manifest.dependencies, ...manifest.devDependencies };
    for (const [name, version] of Object.entries(versions)) expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  });

  // If the registry does not have a package for another platform when the lockfile is written, npm leaves it out, and `npm ci`
  // refuses the lockfile on that platform.
  test("the packages of every platform are in the lockfile, with a version", () => {
    const names = new Set(Object.keys(lock.packages).map((path) => path.slice(path.lastIndexOf("node_modules/") + 13)));
    for (const [path, { version, optionalDependencies = {} }] of Object.entries(lock.packages)) {
      expect(version, path).toBeTruthy();
      for (const name of Object.keys(optionalDependencies)) expect(names.has(name), `${name}, for ${path}`).toBe(true);
    }
  });

  test("every package in the lockfile has its hash, also those of other platforms, and the lockfile names no registry", async () => {
    const unhashed = Object.entries(lock.packages).filter(
      ([path, { integrity, link }]) => path !== "" && link !== true && !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""),
    );
    expect(unhashed.map(([path]) => path)).toEqual([]);
    expect(await readFile(new URL("package-lock.json", root), "utf8")).not.toContain('"resolved": "http');
  });
});
