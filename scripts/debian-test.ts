/**
 * `npm run test:debian`: runs, as root on Debian 12, the tests that need programs which Debian packages. It installs what is missing, and
 * stops at the first failure. `npm test` needs none of these programs.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newPostgres } from "../test/helpers/debian-postgres.ts";

/** What apt installs, with a file that it brings. */
const packages = {
  "postgresql-15": "/usr/lib/postgresql/15/bin/postgres",
  nginx: "/usr/sbin/nginx",
  haproxy: "/usr/sbin/haproxy",
  caddy: "/usr/bin/caddy",
  patroni: "/usr/bin/patroni",
  "python3-etcd": "/usr/lib/python3/dist-packages/etcd",
  "etcd-server": "/usr/bin/etcd",
  "kubernetes-client": "/usr/bin/kubectl",
};
const root = join(import.meta.dirname, "..");

function fail(reason: string): never {
  console.error(`test:debian: ${reason}`);
  process.exit(1);
}

function installMissing(): void {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) fail("Run it as root on Debian 12.");
  const missing = Object.entries(packages).flatMap(([name, file]) => (existsSync(file) ? [] : [name]));
  if (missing.length === 0) return;
  const apt = { stdio: "inherit", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } } as const;
  spawnSync("apt-get", ["update"], apt);
  if (spawnSync("apt-get", ["install", "--yes", "--no-install-recommends", ...missing], apt).status !== 0)
    fail(`apt-get could not install ${missing.join(", ")}.`);
}

/** Runs a command and prints one line, or everything that it said if it fails. */
async function check(
  name: string,
  command: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const began = performance.now();
  const [program = "", ...words] = command;
  const child = spawn(program, words, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const counted = /Tests .*?(\d+ passed)/.exec(said)?.[1];
  const took = `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  if (code !== 0) console.log(said.trimEnd());
  console.log(`${code === 0 ? "ok" : "failed"}: ${name} (${[counted, took].filter(Boolean).join(", ")})`);
  return code === 0;
}

const vitest = (...files: string[]): string[] => ["vitest", "run", ...files];
/** The tests of what the service promises to its callers, and those that are closest to the database. */
const contract = vitest(
  "test/contract",
  "test/isolation.test.ts",
  "test/budget-model.test.ts",
  "lib/db",
  "lib/payments",
  "lib/audit",
);

installMissing();
const folder = await mkdtemp(join(tmpdir(), "countersign-debian-"));
await chmod(folder, 0o755);
const postgres = await newPostgres(folder, { durable: false });
try {
  const debian = { TESTS: "debian", TEST_DATABASE_URL: postgres.url };
  const passed =
    (await check("contract tests on PostgreSQL 15", contract, { TEST_DATABASE_URL: postgres.url })) &&
    (await check("contract tests on the embedded PostgreSQL 18", contract)) &&
    (await check("the manifests for Kubernetes render", ["kubectl", "kustomize", "deploy/kubernetes"])) &&
    (await check("backups and restoring", vitest("test/debian/backup.test.ts"), debian)) &&
    (await check("full disks", vitest("test/debian/failures.test.ts"), debian)) &&
    (await check("reverse proxies", vitest("test/debian/proxies.test.ts"), debian)) &&
    (await check("fail-over under Patroni", ["node", "scripts/drill.ts", "--patroni"]));
  if (!passed) process.exitCode = 1;
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
