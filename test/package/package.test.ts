import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { wrapFetchWithPayment } from "@x402/fetch";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPaidTools, type PaidTools } from "../../examples/paid-tools.ts";
import { startSeller, type Seller } from "../../examples/seller.ts";
import { operationTypes, TYPES_FILE } from "../../scripts/sdk-types.ts";
import sdk from "../../sdk/package.json" with { type: "json" };
import { paidFetch } from "../../sdk/src/ai.ts";
import { countersign, PaidButNotServed, PaymentDenied, type Countersign } from "../../sdk/src/index.ts";
import { payingTools } from "../../sdk/src/mcp.ts";
import { x402 } from "../../sdk/src/x402.ts";
import { signWebhook } from "../../sdk/src/webhook.ts";
import { exampleThinEvent } from "#lib/audit/thin-event.ts";
import { env } from "#lib/env.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import * as contract from "#lib/payments/contract.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { freePort } from "#test/free-port.ts";
import { newKey, newOrganization, type Agent } from "#test/identity.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { openMppShop, openMppTools } from "#test/mpp-tools.ts";
import { installPackage, linesOf, olderNode, run, startExample, type Run } from "#test/package.ts";
import { useSettlement } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { listenService, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { settling } from "#test/settling.ts";
import { expectStderr } from "#test/stderr.ts";
import { send } from "#test/tenant.ts";

useDatabase();
// mppx says so of every request of an MCP server.
expectStderr(/\[mppx\] Could not clone server event input/);
const chain = useSettlement();

let folder = "";
let service: ListeningServer;
let seller: Seller;
let tools: PaidTools;
let mppShop: ListeningServer;
let agent: Agent;
let mandate: (policy: Record<string, unknown>) => Promise<string>;
let mandateId = "";
let payTo: `0x${string}`;

beforeAll(async () => {
  folder = await installPackage();
  const owner = await newOrganization();
  agent = await newKey(owner);
  mandate = (policy) => {
    const usual = { assets, limits: { perPayment: "1", total: "100" }, sellers: { unregistered: "allow" } };
    return activeMandate(owner.credential, { policy: { ...usual, ...policy } });
  };
  mandateId = await mandate({});
  payTo = randomAddress();
  service = await listenService();
  const facilitator = await stockFacilitator(chain());
  seller = await startSeller({ facilitator, payTo });
  tools = await startPaidTools(facilitator, payTo);
  mppShop = await openMppShop(chain(), payTo);
  const hosts = [seller, tools, mppShop].map(({ url }) => new URL(url).host);
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = hosts.join();
  forget("outbound/guarded-fetch", "payments/probe-domain");
});
afterAll(async () => {
  await Promise.all([service, seller, tools, mppShop].map((one) => one.close()));
  await rm(folder, { recursive: true, force: true });
});

type Options = { readonly killedAt?: number; readonly node?: string; readonly imports?: readonly string[] };

const settings = (privateKey: string): Record<string, string> => ({
  COUNTERSIGN_URL: service.url,
  COUNTERSIGN_API_KEY: agent.apiKey,
  COUNTERSIGN_MANDATE: mandateId,
  AGENT_PRIVATE_KEY: privateKey,
});

const runExample = (
  name: string,
  line: readonly string[],
  privateKey: string,
  { killedAt = 0, ...launch }: Options = {},
): Promise<Run> =>
  linesOf(startExample(folder, name, line, { ...launch, env: { ...settings(privateKey), KILLED_AT: String(killedAt) } }));

const runAgent = (privateKey: string, operation: string, options: Options = {}): Promise<Run> =>
  runExample("agent", [`${seller.url}/report`, operation], privateKey, options);

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

const client = () => countersign({ url: service.url, apiKey: agent.apiKey, mandateId });

const report = JSON.stringify({ report: "all is well" });

describe("the packed package in an empty project", () => {
  test("has the license, and types with which the examples compile", async () => {
    expect(await readdir(join(folder, "js"))).toEqual(expect.arrayContaining(["agent.js", "ai-agent.js", "mcp-agent.js"]));
    expect(await readFile(join(folder, "node_modules/countersign/LICENSE"), "utf8")).toContain("Apache License");
  });

  test("has a command line, which also runs on Node 20 if the machine has one", async () => {
    const node = (await olderNode()) ?? process.execPath;
    const command = join(folder, "node_modules/.bin/countersign");
    const { stdout } = await run(node, [command, "--version", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ version: sdk.version });
    const line = ["budget", "--json"];
    const variables = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: agent.apiKey, COUNTERSIGN_MANDATE: mandateId };
    const budget = await run(node, [command, ...line], { env: { ...process.env, ...variables } });
    expect(JSON.parse(budget.stdout)).toMatchObject({ mandateId, status: "active" });
  });

  test("pays a standard seller once, even if its process is killed at any answer", async () => {
    const privateKey = await fundedKey();
    const whole = await runAgent(privateKey, "whole");
    expect(whole.lines).toEqual([`200 ${report}`, "5"]);
    const kills = [1, 2, 3, 4, 5];
    const killAndRepeat = async (killedAt: number): Promise<void> => {
      const operation = `killed-${killedAt}`;
      expect((await runAgent(privateKey, operation, { killedAt })).signal).toBe("SIGKILL");
      let { lines } = await runAgent(privateKey, operation);
      // A slow machine can see the settlement later than the agent waits for it; then the agent is started again.
      for (let again = 0; again < 5 && lines[0]?.startsWith("NotServed: "); again += 1)
        ({ lines } = await runAgent(privateKey, operation));
      // The last answer is the seller's. It is lost, and a seller accepts a credential only once.
      const lost = "PaidButNotServed: The payment was made, and the seller answered 402.";
      expect(lines[0], operation).toContain(killedAt === kills.length ? lost : `200 ${report}`);
      expect(await executionsOf(operation), operation).toEqual([1]);
    };
    await settling(Promise.all(kills.map(killAndRepeat)));
    expect(await chain().balanceOf(payTo)).toBe(250_000n * BigInt(kills.length + 1));
  });

  test("pays on Node 20 if the machine has one, or else on the Node of the tests", async () => {
    const node = (await olderNode()) ?? process.execPath;
    const { lines } = await runAgent(await fundedKey(), "on-node-20", { node });
    expect(lines[0]).toBe(`200 ${report}`);
  });
});

describe("the examples of the adapters", () => {
  test("an MCP agent pays a tool of another server, and a repeat is the same purchase", async () => {
    const privateKey = await fundedKey();
    const call = (node?: string) =>
      runExample("mcp-agent", [tools.url, "tool-1"], privateKey, node === undefined ? {} : { node });
    expect((await call()).lines[0]).toBe(JSON.stringify([{ type: "text", text: "all is well" }]));
    const node = (await olderNode()) ?? process.execPath;
    expect((await settling(call(node))).lines[0]).toBe("PaidButNotServed settled string");
    expect(await executionsOf("tool-1")).toEqual([1]);
  });

  test("an agent of the AI SDK pays for the page that its model reads", async () => {
    const { lines } = await runExample("ai-agent", [`${seller.url}/report`, "test"], await fundedKey(), {
      imports: ["model.mjs"],
    });
    expect(JSON.parse(lines[0] ?? "")).toEqual({ status: 200, body: report });
    const { items } = await client().payments({ limit: 1 });
    expect(items[0]?.intent.metadata).toEqual({ purpose: "a test" });
  });

  test("a receiver of webhooks accepts only signed events, and prints each once", async () => {
    const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
    const port = String(await freePort());
    const node = (await olderNode()) ?? process.execPath;
    const receiver = startExample(folder, "webhook-receiver", [], {
      node,
      env: { COUNTERSIGN_WEBHOOK_KEYS: secret, PORT: port },
    });
    onTestFinished(() => void receiver.kill());
    const said = linesOf(receiver);
    await new Promise<void>((resolve) => receiver.stdout?.on("data", (line: Buffer) => line.includes("ready") && resolve()));
    const body = JSON.stringify(exampleThinEvent);
    const headers = await signWebhook(exampleThinEvent.id, body, secret);
    const post = async (text: string) =>
      (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body: text })).status;
    expect([await post(body), await post(`${body} `), await post(body)]).toEqual([204, 400, 204]);
    receiver.kill();
    const { sequence, type, data } = exampleThinEvent;
    expect((await said).lines.filter((line) => /\D/.test(line))).toEqual([
      "ready",
      `${sequence} ${type} ${data.entityId}`,
      "No signature is valid for these keys.",
    ]);
  });
});

describe("the adapters", () => {
  const paying = async (policy: Record<string, unknown> = {}): Promise<Countersign> => {
    const wallet = privateKeyToAccount((await fundedKey()) as `0x${string}`);
    return countersign({ url: service.url, apiKey: agent.apiKey, mandateId: await mandate(policy), wallet });
  };
  const poor = { limits: { perPayment: "0.1", total: "100" } };
  const url = () => `${seller.url}/report`;
  const expectPaidOnly = async (work: Promise<unknown>): Promise<void> => {
    const error = await settling(work.catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(PaidButNotServed);
    expect(error).toMatchObject({ execution: { settlementStatus: "settled" }, receipt: { receipt: expect.any(String) } });
  };

  test("let the standard x402 fetch pay once for an operation, and pass a denial on to it", async () => {
    const once = wrapFetchWithPayment(fetch, x402(await paying(), { operation: ({ url }) => `stock fetch of ${url}` }));
    expect(await (await once(url())).text()).toBe(report);
    await expect(once(url())).rejects.toThrow("The seller refused the credential.");
    await expect(wrapFetchWithPayment(fetch, x402(await paying(poor)))(url())).rejects.toThrow(PaymentDenied);
  });

  test("give a model the reasons of a denial, and refuse other hosts before anything is sent", async () => {
    const tool = paidFetch(await paying(poor), { hosts: [new URL(url()).host] });
    const call = (address: string) => tool.execute?.({ url: address }, { toolCallId: "call-1", messages: [], context: {} });
    expect(await call(url())).toMatchObject({
      error: "PaymentDenied",
      reasons: expect.any(Array),
      nextActions: expect.any(Array),
    });
    for (const other of [service.url, "file:///etc/passwd", "report"])
      expect(await call(other)).toMatchObject({ error: "HostRefused" });
  });

  test("pay a tool also through a client of the SDK's first version, and pass a denial on to it", async () => {
    const mcp = new Client({ name: "agent", version: "1" });
    await mcp.connect(new StreamableHTTPClientTransport(new URL(tools.url)));
    onTestFinished(() => mcp.close());
    const { content } = await payingTools(mcp, await paying(), tools)({ name: "report", arguments: {} });
    expect(content).toEqual([{ type: "text", text: "all is well" }]);
    await expect(payingTools(mcp, await paying(poor), tools)({ name: "report", arguments: {} })).rejects.toThrow(PaymentDenied);
  });

  test("pay a tool with a long name, and cut its purpose between characters and not inside an emoji", async () => {
    const mcp = new Client({ name: "agent", version: "1" });
    await mcp.connect(new StreamableHTTPClientTransport(new URL(tools.url)));
    onTestFinished(() => mcp.close());
    const renamed = { callTool: (params: Parameters<typeof mcp.callTool>[0]) => mcp.callTool({ ...params, name: "report" }) };
    const pay = await paying();
    await payingTools(renamed, pay, tools)({ name: `${"a".repeat(130)}🙂 report`, arguments: {} });
    const { items } = await pay.payments();
    expect(items[0]?.intent.metadata).toEqual({ purpose: `The tool ${"a".repeat(130)}🙂` });
  });

  test("pay a tool of a standard MPP server once for an operation", async () => {
    const mcp = await openMppTools(chain(), payTo);
    onTestFinished(() => mcp.close());
    const pay = await paying();
    const call = payingTools(mcp, pay, tools);
    const before = await chain().balanceOf(payTo);
    const { content, _meta } = await call({ name: "report", arguments: {} }, { operation: "by MPP" });
    expect(content).toEqual([{ type: "text", text: "all is well" }]);
    expect(_meta).toMatchObject({ "org.paymentauth/receipt": { status: "success", method: "evm" } });
    expect((await chain().balanceOf(payTo)) - before).toBe(250_000n);
    // A repeat shows the same credential, which the chain takes only once, so the tool fails after the payment.
    await expectPaidOnly(call({ name: "report", arguments: {} }, { operation: "by MPP" }));
    expect((await chain().balanceOf(payTo)) - before).toBe(250_000n);
    const { items } = await pay.payments({ operation: "by MPP" });
    expect(items).toMatchObject([{ intent: { amount: "0.25" }, executions: [expect.anything()] }]);
    await expect(payingTools(mcp, await paying(poor), tools)({ name: "report" })).rejects.toThrow(PaymentDenied);
  });

  test("let pay.fetch pay a standard server by HTTP that speaks only MPP, once for an operation", async () => {
    const pay = await paying();
    const report = `${mppShop.url}/report`;
    const before = await chain().balanceOf(payTo);
    const answer = await pay.fetch(report, { operation: "MPP by HTTP" });
    expect([answer.status, await answer.text()]).toEqual([200, "all is well"]);
    expect(answer.headers.has("payment-receipt")).toBe(true);
    const guest = { authorization: "Bearer of a guest" };
    expect((await pay.fetch(`${mppShop.url}/guarded`, { headers: guest })).status).toBe(200);
    await expectPaidOnly(pay.fetch(report, { operation: "MPP by HTTP" }));
    expect((await chain().balanceOf(payTo)) - before).toBe(500_000n);
    await expect((await paying(poor)).fetch(report)).rejects.toThrow(PaymentDenied);
    await expect(client().fetch(report)).rejects.toThrow("A seller that uses MPP can only be paid from a wallet.");
  });
});

test("the types of the operations in the package are those of the API", async () => {
  const types = (text: string): string => text.replaceAll(/^\s*\/\*\*.*\*\/\n/gm, "");
  const isCurrent = types(await readFile(TYPES_FILE, "utf8")) === types(operationTypes());
  expect(isCurrent, "An operation changed. Run node scripts/sdk-types.ts.").toBe(true);
});
