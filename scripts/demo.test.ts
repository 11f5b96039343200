import { spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { installPackage, olderNode, plain, run } from "#test/package.ts";

const root = join(import.meta.dirname, "..");

type Ran = { readonly code: number | null; readonly output: string };

type Options = {
  readonly once?: boolean;
  readonly variables?: Readonly<Record<string, string>>;
  readonly onOutput?: (output: string, stop: () => void) => void;
};

async function runDemo(dataDir: string, { once = true, variables = {}, onOutput }: Options = {}): Promise<Ran> {
  const child = spawn(process.execPath, ["scripts/demo.ts", ...(once ? ["--once"] : [])], {
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

const hasProgram = (name: string): Promise<boolean> =>
  run("sh", ["-c", `command -v ${name}`]).then(
    () => true,
    () => false,
  );

type Shell = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs commands as a person does who copies them, in the agent's folder and with this Node. */
function inShell(folder: string, node: string, commands: string): Promise<Shell> {
  const env = {
    ...plain,
    NODE_ENV: "production" as const,
    NODE_OPTIONS: "",
    PATH: `${dirname(node)}${delimiter}${plain["PATH"]}`,
  };
  return run("sh", ["-ec", commands], { cwd: folder, env }).then(
    (said) => ({ code: 0, ...said }),
    (error: Shell) => error,
  );
}

/** Runs what the demo printed: everything on this Node, and the agent on Node 20 too, with a new purchase and with that one again. */
async function runPrinted(output: string, folder: string): Promise<readonly [all: Shell, older: Shell, again: Shell]> {
  const programs = ["curl", "python3"];
  const found = await Promise.all(programs.map(hasProgram));
  const missing = programs.filter((_, at) => !found[at]);
  const printed = output.slice(output.indexOf("\nAPI="), output.indexOf("\nThe service runs at"));
  const commands = printed.split(/(?<!\\)\n(?! )/).filter((command) => !missing.some((name) => command.includes(`${name} `)));
  const agent = commands.filter((command) => /^(?:API=|export |COUNTERSIGN_MANDATE=.*\n.*node )/.test(command)).join("\n");
  const node = (await olderNode()) ?? process.execPath;
  const all = await inShell(folder, process.execPath, commands.join("\n"));
  const older = await inShell(folder, node, agent.replace("my-first-purchase", "on-node-20"));
  return [all, older, await inShell(folder, node, agent.replace("my-first-purchase", "on-node-20"))];
}

const usdcAfter = (name: string, output: string): number[] =>
  (new RegExp(`^ +${name} +(\\d.*)$`, "m").exec(output)?.[1] ?? "").match(/[+-]?\d+\.\d\d/g)?.map(Number) ?? [];

/** The payment of a run that was stopped, on a chain that no longer exists, does not disturb the next run. */
async function stopAndRunAgain(dataDir: string): Promise<void> {
  const stopped = await runDemo(dataDir, {
    onOutput: (said, stop) => {
      if (said.includes("status    pending")) stop();
    },
  });
  expect(stopped.code, stopped.output).toBe(130);
  expect(stopped.output).not.toContain("Every step succeeded.");
  const again = await runDemo(dataDir, { variables: { CHROMIUM_PATH: join(dataDir, "none") } });
  expect(again.code, again.output).toBe(0);
  expect(again.output).toMatch(/browser +no browser was found/);
}

describe("npm run demo", () => {
  test("pays a seller exactly the price, prints commands that work on Node 20 too, and works again on the same data after a run that was stopped", async () => {
    const [dataDir, folder] = await Promise.all([temporary(), installPackage()]);
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [, agent = ""] = /```js\n([\s\S]*?)```/.exec(await readFile(join(root, "docs/start/first-agent.md"), "utf8")) ?? [];
    await writeFile(join(folder, "agent.mjs"), agent);
    let printed: ReturnType<typeof runPrinted> | undefined;
    const onOutput = (said: string, stop: () => void): void => {
      if (said.includes("until you press Ctrl-C")) printed ??= runPrinted(said, folder).finally(stop);
    };
    const { code, output } = await runDemo(dataDir, { once: false, onOutput });
    expect(code, output).toBe(0);
    const [all, older, repeated] = (await printed) ?? [];
    expect(all).toMatchObject({ code: 0, stderr: "" });
    for (const line of ['200 {"report":"all is well"}', '"outcome":"allow"', '"status":"paid"', '"openapi":'])
      expect(all?.stdout).toContain(line);
    expect(all?.stdout.match(/all is well/g)?.length).toBeGreaterThanOrEqual(3);
    expect(older).toMatchObject({ code: 0, stdout: '200 {"report":"all is well"}\n' });
    const sentence = /^PaidButNotServed: The payment was made, and the seller answered 402\. .*\.\n$/;
    expect(repeated).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(sentence) });
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
      /counts +1 USD counts as 1 USD, and 1 EUR as 1\.12 USD/m,
      /outcome +deny: nonce_reused$/m,
      /payment +closed: 15\.68 USD spent, 1\.12 USD free again$/m,
      /answer +decline: total_budget_exceeded$/m,
      /reversed +0\.80 USD are free again, so 1\.8 USD remain$/m,
      /outcome +deny: mandate_revoked$/m,
      /^Every step succeeded\.$/m,
    ]) {
      expect(output).toMatch(line);
    }
    expect(output, "no colours where nobody watches").not.toContain("\u001b[");
    const [shown = ""] = output.split("Continue by yourself");
    expect(shown.split("\n").filter((line) => line.length > 80 && !line.includes(dataDir))).toEqual([]);
    const { mode } = await stat(join(dataDir, "agent.key"));
    expect(mode & 0o777).toBe(0o600);
    await stopAndRunAgain(dataDir);
  });

  test("names the failed step, and exits with 1", async () => {
    const dataDir = join(await temporary(), "file");
    await writeFile(dataDir, "");
    const { code, output } = await runDemo(dataDir);
    expect(code).toBe(1);
    expect(output).toContain('"The service, with its own PostgreSQL 18" failed.');
  });
});
