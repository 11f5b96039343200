import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "..");

type Ran = { readonly code: number | null; readonly output: string };

type Options = {
  readonly variables?: Readonly<Record<string, string>>;
  readonly onOutput?: (output: string, stop: () => void) => void;
};

async function runDemo(dataDir: string, { variables = {}, onOutput }: Options = {}): Promise<Ran> {
  const child = spawn(process.execPath, ["scripts/demo.ts", "--once"], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: "", DATA_DIR: dataDir, LOG_LEVEL: "warn", ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGTERM"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      onOutput?.(output, () => child.kill("SIGINT"));
    });
  }
  const code = await new Promise<number | null>((done) => child.once("close", done));
  return { code, output };
}

async function temporary(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "countersign-demo-"));
  // If this runs as root, PostgreSQL runs under another account, and uses another data directory if that account cannot enter
  // this one.
  await chmod(dataDir, 0o755);
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

const usdcAfter = (name: string, output: string): number[] =>
  (new RegExp(`^ +${name} +(\\d.*)$`, "m").exec(output)?.[1] ?? "").match(/[+-]?\d+\.\d\d/g)?.map(Number) ?? [];

describe("npm run demo -- --once", () => {
  test("pays a seller with the standard x402 library exactly the price, and works again on the same data", async () => {
    const dataDir = await temporary();
    const { code, output } = await runDemo(dataDir);
    expect(code, output).toBe(0);
    expect(usdcAfter("seller", output)).toEqual([0, 0.25, 0.25]);
    expect(usdcAfter("agent's wallet", output)).toEqual([10, 9.75, -0.25]);
    for (const line of [
      /outcome +allow$/m,
      /answer +200 \{"report"/,
      /status +settled$/m,
      /outcome +deny: per_payment_limit_exceeded$/m,
      /header +Idempotent-Replayed: true$/m,
      /outcome +deny: challenge_mismatch$/m,
      /mode +service7702: /m,
      /gained +0\.25 USDC, the price, paid by Ada's account$/m,
      /page +Approved/m,
      /status +completed$/m,
      /order +order_\w+$/m,
      /outcome +deny: mandate_revoked$/m,
      /^Every step succeeded\.$/m,
    ]) {
      expect(output).toMatch(line);
    }
    expect(output, "no colours where nobody watches").not.toContain("\u001b[");
    expect(output.split("\n").filter((line) => line.length > 80 && !line.includes(dataDir))).toEqual([]);
    const { mode } = await stat(join(dataDir, "agent.key"));
    expect(mode & 0o777).toBe(0o600);
    const again = await runDemo(dataDir, { variables: { CHROMIUM_PATH: join(dataDir, "none") } });
    expect(again.code, again.output).toBe(0);
    expect(again.output).toMatch(/browser +no browser was found/);
  });

  test("if a run was stopped, its payment on a chain that no longer exists does not disturb the next run", async () => {
    const dataDir = await temporary();
    const stopped = await runDemo(dataDir, {
      onOutput: (said, stop) => {
        if (said.includes("status    pending")) stop();
      },
    });
    expect(stopped.code, stopped.output).toBe(130);
    expect(stopped.output).not.toContain("Every step succeeded.");
    const { code, output } = await runDemo(dataDir);
    expect(code, output).toBe(0);
  });

  test("names the failed step, and exits with 1", async () => {
    const dataDir = join(await temporary(), "file");
    await writeFile(dataDir, "");
    const { code, output } = await runDemo(dataDir);
    expect(code).toBe(1);
    expect(output).toContain('"The service, with its own PostgreSQL 18" failed.');
  });
});
