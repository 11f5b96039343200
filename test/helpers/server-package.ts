import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { glob, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plain, run } from "#test/package.ts";
import { whenEnded } from "#test/when-ended.ts";

/* The package `countersign-server` as its users get it: packed, installed into an empty folder, and run by its command. */

const root = join(import.meta.dirname, "../..");
const READY = /on (http:\/\/localhost:[0-9]+)/;

/** Makes the tarball in `folder`, with the pages that are built already if they are up to date. Returns its path. */
export async function packServer(folder: string): Promise<string> {
  const npm = ["pack", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", npm, { cwd: root, env: { ...plain, NODE_ENV: "production" }, maxBuffer: 2 ** 26 });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("["))) as { readonly filename: string }[];
  return join(folder, packed!.filename);
}

/** Installs the tarball in an empty folder. Returns the path of the installed package. */
export async function installServer(tarball: string, folder: string, options: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", tarball, "--no-audit", "--no-fund", ...options], {
    cwd: folder,
    env: { ...plain, NODE_ENV: "production" },
  });
  return join(folder, "node_modules/countersign-server");
}

/** One hash over the names and contents of all files of a package. */
export async function hashOf(installed: string): Promise<string> {
  const files = await Array.fromAsync(glob("**", { cwd: installed, withFileTypes: true }));
  const hash = createHash("sha256");
  for (const path of files.flatMap((one) => (one.isFile() ? [join(one.parentPath, one.name)] : [])).toSorted())
    hash.update(path).update(await readFile(path));
  return hash.digest("hex");
}

export type Launch = {
  readonly node?: string;
  readonly cwd: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** The account that runs the command, if it is not that of this process. */
  readonly uid?: number;
};
export type Command = { readonly child: ChildProcess; said(): string; readonly ended: Promise<number | null> };

/** Runs a command of the installed package. */
export function command(installed: string, words: readonly string[], launch: Launch): Command {
  const { node = process.execPath, cwd, variables, uid } = launch;
  const child = spawn(node, [join(installed, "bin/countersign-server.mjs"), ...words], {
    cwd,
    env: { ...plain, NODE_ENV: "production", NODE_OPTIONS: "", ...variables },
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  child.once("exit", whenEnded("kill", "-KILL", String(child.pid)));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return { child, said: () => said, ended: new Promise((resolve) => child.once("close", resolve)) };
}

/** Resolves to the address of the service that the command starts. @throws if it ends before */
export function listening({ child, said, ended }: Command): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const url = READY.exec(said())?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stderr?.on("data", look);
    void ended.then((code) => reject(new Error(`The command ended with ${code}:\n${said()}`)));
  });
}
