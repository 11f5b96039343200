import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const NO_REGISTRY = "http://127.0.0.1:9";

const rooted = (packages: object) => ({ name: "tree", version: "1.0.0", lockfileVersion: 3, requires: true, packages });

/** A tree with the package `needed`, and without `tool`, which its lockfile names too. */
async function newTree(tool: object = {}): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), "countersign-test-"));
  onTestFinished(() => rm(tree, { recursive: true }));
  const own = { name: "tree", version: "1.0.0", dependencies: { needed: "1.0.0" }, devDependencies: { tool: "1.0.0" } };
  const needed = { version: "1.0.0", resolved: `${NO_REGISTRY}/needed.tgz`, integrity: "sha512-AA==" };
  const both = { "": own, "node_modules/needed": needed, "node_modules/tool": { version: "1.0.0", dev: true, ...tool } };
  await mkdir(join(tree, "scripts"));
  await mkdir(join(tree, "node_modules/needed"), { recursive: true });
  await cp(join(import.meta.dirname, "ensure.mjs"), join(tree, "scripts/ensure.mjs"));
  await writeFile(join(tree, "package.json"), JSON.stringify(own));
  await writeFile(join(tree, "package-lock.json"), JSON.stringify(rooted(both)));
  await writeFile(join(tree, "node_modules/needed/package.json"), JSON.stringify({ name: "needed", version: "1.0.0" }));
  await writeFile(join(tree, "node_modules/.package-lock.json"), JSON.stringify(rooted({ "node_modules/needed": needed })));
  return tree;
}

async function ensure(tree: string, registry = NO_REGISTRY) {
  const npm = { npm_config_registry: registry, npm_config_fetch_retries: "0", npm_config_cache: join(tree, "cache") };
  const env = { ...process.env, ...npm };
  const ended = run(process.execPath, ["scripts/ensure.mjs"], { cwd: tree, env });
  const { stderr, code } = await ended
    .catch((error: { stderr: string; code: number }) => error)
    .then((one) => ({ code: 0, ...one }));
  return { code, stderr, packages: await readdir(join(tree, "node_modules")) };
}

/** A registry with the package `tool` 1.0.0, and what the lockfile says of it. */
async function newRegistry() {
  const folder = await mkdtemp(join(tmpdir(), "countersign-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "package"));
  const archives = new Map<string, Buffer>();
  for (const name of ["needed", "tool"]) {
    await writeFile(join(folder, "package/package.json"), JSON.stringify({ name, version: "1.0.0" }));
    await run("tar", ["-czf", `${name}.tgz`, "package"], { cwd: folder });
    archives.set(`/${name}.tgz`, await readFile(join(folder, `${name}.tgz`)));
  }
  const server = createServer(({ url = "" }, outgoing) => void outgoing.end(archives.get(url)));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entry = (name: string) => ({
    resolved: `${url}/${name}.tgz`,
    integrity: `sha512-${createHash("sha512")
      .update(archives.get(`/${name}.tgz`)!)
      .digest("base64")}`,
  });
  return { url, needed: entry("needed"), tool: entry("tool") };
}

describe("what runs before the npm scripts", () => {
  test("a tree that has all packages but an optional one is not changed", async () => {
    const tree = await newTree({ optional: true });
    expect(await ensure(tree)).toEqual({ code: 0, stderr: "", packages: [".package-lock.json", "needed"] });
  });

  test("an installation that fails leaves the packages that were there", async () => {
    const tree = await newTree();
    const { code, stderr, packages } = await ensure(tree);
    expect([code, packages]).toEqual([1, [".package-lock.json", "needed"]]);
    expect(stderr).toContain("is the package registry reachable?");
    expect(await readdir(tree)).not.toContain(".packages");
  });

  test("an installation replaces the packages as a whole", async () => {
    const { url, needed, tool } = await newRegistry();
    const tree = await newTree(tool);
    const lock = await readFile(join(tree, "package-lock.json"), "utf8");
    await writeFile(
      join(tree, "package-lock.json"),
      lock.replace(`${NO_REGISTRY}/needed.tgz`, needed.resolved).replace("sha512-AA==", needed.integrity),
    );
    const { code, packages } = await ensure(tree, url);
    expect([code, packages]).toEqual([0, [".package-lock.json", "needed", "tool"]]);
    expect(await readdir(tree)).not.toContain(".packages");
  });
});
