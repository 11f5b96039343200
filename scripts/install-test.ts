/**
 * `npm run test:install`: installs the package countersign-server in empty folders, in the three ways that people do, and runs it.
 * It needs the package registry. It also compares the time to the first page with that of `npm start` in this tree.
 */
import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "#lib/db/embedded.ts";
import { spawn } from "node:child_process";
import { olderNode, plain, run } from "../test/helpers/package.ts";
import { command, installServer, listening, packServer, type Launch } from "../test/helpers/server-package.ts";
import { nodeFlags } from "./node-flags.ts";

const TURNS = 5;
/** The account `node` of the image. */
const NODE_USER = 1_000;
const root = join(import.meta.dirname, "..");
const folder = await mkdtemp(join(tmpdir(), "countersign-install-"));
const tell = (line: string): void => console.log(line);

/** The milliseconds until the service that `start` runs has shown its sign-in page. */
async function firstPage(start: () => ReturnType<typeof command>): Promise<number> {
  const began = performance.now();
  const running = start();
  const url = await listening(running);
  const page = await fetch(`${url}/sign-in`);
  assert.equal(page.status, 200, await page.text());
  const took = performance.now() - began;
  running.child.kill("SIGTERM");
  assert.equal(await running.ended, 0, running.said());
  return took;
}

async function demo(installed: string, launch: Launch): Promise<string> {
  const run = command(installed, ["demo", "--once"], { ...launch, variables: {} });
  const code = await run.ended;
  assert.equal(code, 0, run.said());
  return run.said();
}

const median = (times: readonly number[]): number => Math.round(times.toSorted((a, b) => a - b)[times.length >> 1]!);

const postgres = await startEmbedded({ dataDir: join(folder, "postgres"), database: "countersign" });
try {
  const tarball = await packServer(folder);
  const cache = join(folder, "cache");
  const ways = [
    {
      name: "Node 20, with a registry",
      node: (await olderNode()) ?? assert.fail("There is no Node 20 in PATH."),
      options: ["--cache", cache],
      url: undefined,
    },
    {
      name: "Node 24 without optional packages, and a PostgreSQL",
      node: process.execPath,
      options: ["--omit=optional"],
      url: postgres.url,
    },
    { name: "offline, from the cache of npm", node: process.execPath, options: ["--offline", "--cache", cache], url: undefined },
  ];
  let packaged = "";
  for (const [at, { name, node, options, url }] of ways.entries()) {
    const cwd = join(folder, `work-${at}`);
    await mkdir(cwd);
    const installed = await installServer(tarball, join(folder, `way-${at}`), options);
    const variables = { ENVIRONMENT: "sandbox", PORT: "0", ...(url !== undefined && { DATABASE_URL: url }) };
    const launch = { node, cwd, variables };
    tell(`${name}: first page after ${Math.round(await firstPage(() => command(installed, ["start"], launch)))} ms`);
    if (url === undefined) {
      assert.match(await demo(installed, { node, cwd }), /Every step succeeded/);
      tell(`${name}: the demo succeeded`);
    } else {
      packaged = installed;
      const refused = command(installed, ["demo", "--once"], { node, cwd });
      assert.equal(await refused.ended, 1);
      assert.match(refused.said(), /optional package @foundry-rs\/anvil, which npm did not install/);
      tell(`${name}: the demo says what it lacks`);
    }
  }
  await run(join(root, "deploy/install.sh"), [folder, join(folder, "app")], { env: { ...plain, NODE_ENV: "production" } });
  const data = join(folder, "data");
  await mkdir(data);
  await chown(data, NODE_USER, NODE_USER);
  await chmod(folder, 0o755);
  const image = { cwd: data, uid: NODE_USER, variables: { ENVIRONMENT: "sandbox", PORT: "0", DATA_DIR: data } };
  const inImage = () => command(join(folder, "app/node_modules/countersign-server"), ["start"], image);
  tell(`what the image has, by its account: first page after ${Math.round(await firstPage(inImage))} ms`);
  const variables = { ENVIRONMENT: "sandbox", PORT: "0", DATABASE_URL: postgres.url, DATA_DIR: join(folder, "work-1/.data") };
  const tree = () => {
    const child = spawn(process.execPath, [...nodeFlags, "server.ts"], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: "", ...variables },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    return { child, said: () => said, ended: new Promise<number | null>((resolve) => child.once("close", resolve)) };
  };
  const times = { package: [] as number[], tree: [] as number[] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    times.package.push(await firstPage(() => command(packaged, ["start"], { cwd: join(folder, "work-1"), variables })));
    times.tree.push(await firstPage(tree));
  }
  tell(
    `first page on an existing database, median of ${TURNS} in turns: package ${median(times.package)} ms, npm start ${median(times.tree)} ms`,
  );
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
