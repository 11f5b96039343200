import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const program = `
  const { default: setup } = await import("./test/helpers/cluster.ts");
  await setup({ provide: () => {} });
  console.log("started");
  setInterval(() => {}, 1_000);`;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a run that is killed leaves no PostgreSQL behind", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "countersign-test-"));
  await chmod(dataDir, 0o755);
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const run = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, TEST_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((done) => run.stdout.once("data", done).once("end", done));
  const pid = Number((await readFile(join(dataDir, "postgres/data/postmaster.pid"), "utf8")).split("\n")[0]);
  expect(isAlive(pid)).toBe(true);
  run.kill("SIGKILL");
  await expect.poll(() => isAlive(pid)).toBe(false);
});
