import { execFile, spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSeller, type Seller } from "../examples/seller.ts";
import { operationTypes, TYPES_FILE } from "../scripts/sdk-types.ts";
import { countersign } from "../sdk/src/index.ts";
import { env } from "#lib/env.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import * as contract from "#lib/payments/contract.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization, type Agent } from "#test/identity.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { listenService, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { settling } from "#test/settling.ts";
import { send } from "#test/tenant.ts";

/* The package as its users get it: packed, installed into an empty folder, and run in a process of its own. */

useDatabase();
const chain = useSettlement();

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

let folder = "";
let service: ListeningServer;
let seller: Seller;
let agent: Agent;
let mandateId = "";
let payTo: `0x${string}`;

/** npm's own variables of `npm test` would name this repository. */
const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith("npm_")));

async function npm(command: readonly string[], cwd: string): Promise<void> {
  const options = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts=false", "--cache", join(folder, ".npm")];
  await run("npm", [...command, ...options], { cwd, env: { ...plain, NODE_ENV: "test" } });
}

/** Installs the tarball and links the optional peers, so that nothing is read from a registry. */
async function install(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "countersign-package-"));
  await npm(["pack", "--pack-destination", folder], join(root, "sdk"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await npm(["install", "./countersign-0.1.0.tgz"], folder);
  for (const peer of ["viem", "@x402/core", "@x402/evm", "@types/node"]) {
    const link = join(folder, "node_modules", peer);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, "node_modules", peer), link);
  }
  await copyFile(join(root, "examples/agent.ts"), join(folder, "agent.ts"));
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2023",
    types: ["node"],
    skipLibCheck: true,
    outDir: "js",
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["agent.ts"] }));
  await writeFile(join(folder, "run.mjs"), runner);
}

/** Runs the agent, and kills the process when the given answer arrives. */
const runner = `
let answers = 0;
const send = globalThis.fetch;
globalThis.fetch = async (...asked) => {
  const answer = await send(...asked);
  answers += 1;
  if (answers === Number(process.env.KILLED_AT)) process.kill(process.pid, "SIGKILL");
  return answer;
};
try {
  await import("./js/agent.js");
} catch (error) {
  console.log(error.name, error.execution?.settlementStatus, typeof error.receipt?.receipt);
}
console.log(answers);
`;

beforeAll(async () => {
  await install();
  const owner = await newOrganization();
  agent = await newKey(owner);
  const policy = { assets, limits: { perPayment: "1", total: "100" }, sellers: { unregistered: "allow" } };
  mandateId = await activeMandate(owner.credential, { policy });
  payTo = randomAddress();
  service = await listenService();
  seller = await startSeller({ facilitator: await stockFacilitator(chain()), payTo });
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = new URL(seller.url).host;
  for (const name of ["outbound", "probes"]) forget(name);
}, 180_000);
afterAll(async () => {
  await Promise.all([service.close(), seller.close()]);
  await rm(folder, { recursive: true, force: true });
});

type Run = { readonly signal: NodeJS.Signals | null; readonly lines: readonly string[] };

async function runAgent(privateKey: string, operation: string, { killedAt = 0, node = process.execPath } = {}): Promise<Run> {
  const child = spawn(node, ["run.mjs", `${seller.url}/report`, operation], {
    cwd: folder,
    env: {
      ...plain,
      NODE_ENV: "production",
      NODE_OPTIONS: "",
      COUNTERSIGN_URL: service.url,
      COUNTERSIGN_API_KEY: agent.apiKey,
      MANDATE: mandateId,
      AGENT_PRIVATE_KEY: privateKey,
      KILLED_AT: String(killedAt),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const signal = await new Promise<NodeJS.Signals | null>((resolve) => child.once("close", (_, by) => resolve(by)));
  return { signal, lines: said.trim().split("\n") };
}

const executionsOf = async (operation: string) => {
  const query = `?idempotencyKey=${operation}`;
  const { data } = await send(contract.listPayments, listPayments, { as: agent.credential, query });
  return data.items.map(({ executions }) => executions.length);
};

async function fundedKey(): Promise<string> {
  const privateKey = generatePrivateKey();
  await chain().mint(privateKeyToAddress(privateKey), 100_000_000n);
  return privateKey;
}

/** A Node 20 beside the one that runs the tests, if the machine has one. */
async function olderNode(): Promise<string | null> {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    const node = join(directory, "node");
    const version = await run(node, ["--version"]).then(
      ({ stdout }) => stdout,
      () => "",
    );
    if (version.startsWith("v20.")) return node;
  }
  return null;
}

const client = () => countersign({ url: service.url, apiKey: agent.apiKey, mandateId });

const report = JSON.stringify({ report: "all is well" });

describe("the packed package in an empty project", () => {
  test("has types, and the example with them compiles", { timeout: 60_000 }, async () => {
    await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", folder]);
    expect(await readFile(join(folder, "node_modules/countersign/LICENSE"), "utf8")).toContain("Apache License");
    expect(await readFile(join(root, "README.md"), "utf8")).toContain(await readFile(join(root, "examples/agent.ts"), "utf8"));
  });

  test("pays a stock seller, survives a kill at each answer, and pays once", { timeout: 180_000 }, async () => {
    const privateKey = await fundedKey();
    const whole = await runAgent(privateKey, "whole");
    expect(whole.lines).toEqual([`200 ${report}`, "5"]);
    const kills = [1, 2, 3, 4, 5];
    const killAndRepeat = async (killedAt: number): Promise<void> => {
      const operation = `killed-${killedAt}`;
      expect((await runAgent(privateKey, operation, { killedAt })).signal).toBe("SIGKILL");
      let { lines } = await runAgent(privateKey, operation);
      // A slow machine can see the settlement later than the agent waits for it; then the agent is started again.
      for (let again = 0; again < 5 && lines[0]?.startsWith("NotServed"); again += 1)
        ({ lines } = await runAgent(privateKey, operation));
      // The last answer is the seller's. It is lost, and a seller accepts a credential only once.
      expect(lines[0], operation).toBe(killedAt === kills.length ? "PaidButNotServed settled string" : `200 ${report}`);
      expect(await executionsOf(operation), operation).toEqual([1]);
    };
    await settling(Promise.all(kills.map(killAndRepeat)));
    expect(await chain().balanceOf(payTo)).toBe(250_000n * BigInt(kills.length + 1));
  });

  test("runs on Node 20", { timeout: 60_000 }, async () => {
    const node = (await olderNode()) ?? process.execPath;
    const { lines } = await runAgent(await fundedKey(), "on-node-20", { node });
    expect(lines[0]).toBe(`200 ${report}`);
  });
});

describe("the command line", () => {
  type Said = { readonly code: number; readonly stdout: string; readonly stderr: string };

  async function cli(...line: string[]): Promise<Said> {
    const variables = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: agent.apiKey, COUNTERSIGN_MANDATE: mandateId };
    const env = { ...plain, NODE_ENV: "production" as const, NODE_OPTIONS: "", ...variables, AGENT_PRIVATE_KEY: await key };
    const command = join(folder, "node_modules/countersign/dist/cli.js");
    return run(process.execPath, [command, ...line], { cwd: folder, env }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as Said,
    );
  }
  let key: Promise<string>;
  beforeAll(() => void (key = fundedKey()));

  test("pays, shows the budget and verifies the receipt, with JSON and an exit code", { timeout: 60_000 }, async () => {
    const paid = await cli("pay", `${seller.url}/report`, "--operation", "from the shell", "--json");
    expect([paid.code, JSON.parse(paid.stdout)]).toEqual([0, { status: 200, body: report }]);
    const { items } = await client().payments({ operation: "from the shell" });
    const { executionId = "" } = items[0]?.executions[0] ?? {};
    const receipt = await client().api.getExecutionReceipt({ executionId });
    await writeFile(join(folder, "receipt.json"), JSON.stringify(receipt));
    const [budget, verified, page] = await Promise.all([cli("budget"), cli("verify", "receipt.json"), cli("approve", "--json")]);
    expect([budget.code, budget.stdout]).toEqual([
      0,
      expect.stringMatching(/^The mandate is active\.\nperPayment +1 of 1 USDC\n/),
    ]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("valid")]);
    expect(JSON.parse(page.stdout)).toEqual({ url: `${service.url}/approvals` });
  });

  test("says what is wrong: no URL, a receipt that was changed, an option without its value", { timeout: 60_000 }, async () => {
    await writeFile(join(folder, "changed.json"), JSON.stringify({ receipt: "a.b.c" }));
    const [use, verified, unknown] = await Promise.all([
      cli("pay"),
      cli("verify", "changed.json"),
      cli("pay", `${seller.url}/report`, "--json", "--operation"),
    ]);
    expect([use.code, use.stderr]).toEqual([2, expect.stringMatching(/^Name the URL to pay for\./)]);
    expect([verified.code, verified.stderr]).toEqual([1, expect.stringMatching(/^The step receipt fails: /)]);
    expect([unknown.code, JSON.parse(unknown.stdout)]).toMatchObject([2, { error: "WrongUse" }]);
  });
});

test("the types of the operations are those of the API", async () => {
  const types = (text: string): string => text.replaceAll(/^\s*\/\*\*.*\*\/\n/gm, "");
  const isCurrent = types(await readFile(TYPES_FILE, "utf8")) === types(operationTypes());
  expect(isCurrent, "An operation changed. Run node scripts/sdk-types.ts.").toBe(true);
});
