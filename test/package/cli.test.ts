import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Webhook } from "standardwebhooks";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startSeller, type Seller } from "../../examples/seller.ts";
import { countersign } from "../../sdk/src/index.ts";
import { env } from "#lib/env.ts";
import { agentSet } from "#lib/identity/capabilities.ts";
import { forget } from "#lib/process.ts";
import { approve, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization, type Agent, type Owner } from "#test/identity.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { decide } from "#test/oauth.ts";
import { linesOf, plain, run } from "#test/package.ts";
import { useSettlement } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { listen, listenService, stockFacilitator, type ListeningServer } from "#test/shop.ts";

/* Tests the command line from its source, with the real service. test/package.test.ts runs it as it is installed. */

useDatabase();
const chain = useSettlement();

const command = join(import.meta.dirname, "../../sdk/src/cli.ts");
const report = JSON.stringify({ report: "all is well" });
let folder = "";
let service: ListeningServer;
let seller: Seller;
let owner: Owner;
let agent: Agent;
const mandates = { usual: "", poor: "", asking: "" };
let settings: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-cli-"));
  service = await listenService();
  // The sign-in works only at BASE_URL, so BASE_URL must name this server.
  process.env["BASE_URL"] = service.url;
  forget("env", "identity/sessions/auth");
  owner = await newOrganization();
  agent = await newKey(owner, [...agentSet, "audit:read"]);
  const usual = { assets, limits: { perPayment: "1", total: "100" }, sellers: { unregistered: "allow" } };
  const mandate = (policy: object) => activeMandate(owner.credential, { policy: { ...usual, ...policy } });
  mandates.usual = await mandate({});
  mandates.poor = await mandate({ limits: { perPayment: "0.1", total: "100" } });
  mandates.asking = await mandate({ approval: { mode: "always" } });
  seller = await startSeller({ facilitator: await stockFacilitator(chain()), payTo: randomAddress() });
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = new URL(seller.url).host;
  forget("outbound/guarded-fetch", "payments/probe-domain");
  const privateKey = generatePrivateKey();
  await chain().mint(privateKeyToAddress(privateKey), 100_000_000n);
  settings = {
    COUNTERSIGN_CONFIG: join(folder, "config.json"),
    COUNTERSIGN_URL: service.url,
    COUNTERSIGN_API_KEY: agent.apiKey,
    COUNTERSIGN_MANDATE: mandates.usual,
    AGENT_PRIVATE_KEY: privateKey,
  };
});
afterAll(async () => {
  await Promise.all([service.close(), seller.close()]);
  await rm(folder, { recursive: true, force: true });
});
type Said = { readonly code: number; readonly stdout: string; readonly stderr: string };
type Change = Readonly<Record<string, string>>;
const fixed = { ...plain, NODE_ENV: "production" as const, NODE_OPTIONS: "" };
const environment = (change: Change = {}) => ({ ...fixed, ...settings, ...change });

const cli = (line: readonly string[], change?: Change): Promise<Said> =>
  run(process.execPath, [command, ...line], { cwd: folder, env: environment(change) }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Said,
  );

const client = () => countersign({ url: service.url, apiKey: agent.apiKey, mandateId: mandates.usual });

describe("a command", () => {
  test("pays, shows the budget and verifies the receipt, with JSON and an exit code", async () => {
    const paid = await cli(["pay", `${seller.url}/report`, "--operation", "from the shell", "--json"]);
    expect([paid.code, JSON.parse(paid.stdout)]).toEqual([0, { status: 200, body: report }]);
    const { items } = await client().payments({ operation: "from the shell" });
    const { executionId = "" } = items[0]?.executions[0] ?? {};
    const receipt = await client().api.getExecutionReceipt({ executionId });
    await writeFile(join(folder, "receipt.json"), JSON.stringify(receipt));
    const [budget, verified, page] = await Promise.all([
      cli(["budget"]),
      cli(["verify", "receipt.json"]),
      cli(["approve", "--json"]),
    ]);
    expect(budget.stdout).toMatch(/^The mandate is active\.\nEach payment +at most 1 USDC\nIn total +\S+ of \S+ USDC left\n/);
    expect([budget.code, verified.code, verified.stdout]).toEqual([0, 0, expect.stringContaining("valid")]);
    expect(JSON.parse(page.stdout)).toEqual({ url: `${service.url}/approvals` });
  });

  test("ends with the exit code for the outcome, and writes the outcome as JSON", async () => {
    await writeFile(join(folder, "changed.json"), JSON.stringify({ receipt: "a.b.c" }));
    const url = `${seller.url}/report`;
    const mandate = (COUNTERSIGN_MANDATE: string) => ({ COUNTERSIGN_MANDATE });
    type Case = readonly [code: number, error: string, line: readonly string[], change?: Change, says?: string];
    const cases: readonly Case[] = [
      [1, "undefined", ["verify", "changed.json"]],
      [1, "CountersignError", ["verify", command], {}, "cli.ts is not valid JSON: "],
      [1, "SellerUnreachable", ["pay", "http://127.0.0.1:9/x"], {}, "The seller at 127.0.0.1:9 cannot be reached"],
      [2, "WrongUse", ["verify", "missing.json"], {}, "The file missing.json cannot be read"],
      [2, "WrongUse", ["pay"]],
      [2, "WrongUse", ["pay", "localhost:9/x"], {}, "begin with http:// or https://"],
      [2, "WrongUse", ["budget"], { COUNTERSIGN_URL: "pay.example.com" }, "begin with http:// or https://"],
      [2, "WrongUse", ["budget"], mandate(""), `\n  ${mandates.poor} `],
      [2, "WrongUse", ["pay", url, "--operation"]],
      [2, "WrongUse", ["budget", "again", "and again"]],
      [2, "WrongUse", ["listen", "http://example.com"]],
      [2, "WrongUse", ["login", "http://example.com"]],
      [2, "WrongUse", ["budget"], { AGENT_PRIVATE_KEY: "0x1" }],
      [3, "PaymentDenied", ["pay", url], mandate(mandates.poor)],
      [4, "ApprovalRequired", ["pay", url, "--no-wait"], mandate(mandates.asking)],
      [5, "PaymentFailed", ["pay", url], { AGENT_PRIVATE_KEY: generatePrivateKey() }],
      [5, "PaymentFailed", ["pay", url], { AGENT_PRIVATE_KEY: "" }, "Set AGENT_PRIVATE_KEY"],
      [7, "ServiceUnreachable", ["login", "http://127.0.0.1:9"]],
      [7, "ServiceRefused", ["budget"], { COUNTERSIGN_API_KEY: "csk_sandbox_wrong" }],
    ];
    const said = await Promise.all(cases.map(([, , line, change]) => cli([...line, "--json"], change)));
    const read = said.map(({ code, stdout }) => ({ code, ...(JSON.parse(stdout) as { error?: string; message?: string }) }));
    expect(read.map(({ code, error }) => [code, String(error)])).toEqual(cases.map(([code, error]) => [code, error]));
    for (const [at, [, , , , says = ""]] of cases.entries()) expect(read[at]?.message ?? "").toContain(says);
    expect(read.find(({ code }) => code === 4)).toMatchObject({ url: expect.stringContaining("/checkout/") });
  });

  test("sends a saved key only to its own service, and only if nobody else can read the file", async () => {
    const file = join(folder, "saved.json");
    const kept = JSON.stringify({ url: `${service.url}/`, apiKey: agent.apiKey, mandateId: mandates.usual });
    await writeFile(file, kept, { mode: 0o600 });
    const saved = { COUNTERSIGN_CONFIG: file, COUNTERSIGN_API_KEY: "", COUNTERSIGN_MANDATE: "" };
    expect(await cli(["budget"], { ...saved, COUNTERSIGN_URL: "" })).toMatchObject({ code: 0 });
    expect(await cli(["budget"], saved)).toMatchObject({ code: 0 });
    const other = await cli(["budget"], { ...saved, COUNTERSIGN_URL: "https://pay.example.com" });
    expect(other).toMatchObject({ code: 2, stderr: "Set COUNTERSIGN_API_KEY, or run countersign login.\n" });
    await chmod(file, 0o640);
    expect(await cli(["budget"], saved)).toMatchObject({ code: 2, stderr: expect.stringContaining("Others can read") });
  });
});

/** Starts a receiver on this machine that answers with the status which `take` returns. */
async function receive(take: (body: string, headers: Record<string, string>) => number): Promise<ListeningServer> {
  const server = await listen(
    createServer((request, response) => {
      const answer = text(request).then((body) =>
        response.writeHead(take(body, request.headers as Record<string, string>)).end(),
      );
      answer.catch(() => response.destroy());
    }),
  );
  onTestFinished(() => server.close());
  return server;
}

describe("listen", () => {
  test("sends each event until it is accepted, signed and in order, and continues after the last one", async () => {
    const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
    const received: { readonly id: string; readonly sequence: number }[] = [];
    let refusals = 1;
    const receiver = await receive((body, headers) => {
      const event = new Webhook(secret).verify(body, headers);
      if (refusals > 0) return ((refusals -= 1), 500);
      received.push(event as (typeof received)[number]);
      return 200;
    });
    const start = (...line: string[]): ChildProcess => {
      const options = ["--secret", secret, "--cursor", "cursor", "--json", ...line];
      const child = spawn(process.execPath, [command, "listen", `${receiver.url}/hooks`, ...options], {
        cwd: folder,
        env: environment(),
        stdio: ["ignore", "pipe", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    };
    const { items } = await client().api.listEvents({ query: { limit: 100 } });
    const last = items.at(-1)?.sequence ?? 0;
    const first = start("--after", String(last - 2));
    const heard = text(first.stderr!);
    const said = linesOf(first);
    await expect.poll(() => received.length).toBe(2);
    first.kill("SIGTERM");
    const { lines } = await said;
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([...items.slice(-2), { after: last }]);
    expect(await heard).toContain("answers 500. It is sent again.");
    expect(await readFile(join(folder, "cursor"), "utf8")).toBe(`${last}\n`);
    await cli(["pay", `${seller.url}/report`], { COUNTERSIGN_MANDATE: mandates.poor });
    const second = start("--types", "payment.*");
    await expect.poll(() => received.length).toBe(3);
    second.kill("SIGINT");
    expect(received[2]).toMatchObject({ type: "payment.denied", sequence: last + 1 });
  });

  test("sends only events that happen after its start", async () => {
    const received: string[] = [];
    const receiver = await receive((body) => (received.push(body), 200));
    const child = spawn(process.execPath, [command, "listen", `${new URL(receiver.url).port}/hooks`], { env: environment() });
    onTestFinished(() => void child.kill("SIGKILL"));
    await new Promise<void>((resolve) => child.stderr.on("data", (said: Buffer) => said.includes("The secret is") && resolve()));
    await cli(["pay", `${seller.url}/report`], { COUNTERSIGN_MANDATE: mandates.poor });
    await expect.poll(() => received.length).toBeGreaterThan(0);
    expect(JSON.parse(received[0] ?? "")).toMatchObject({ type: "payment.denied" });
  });
});

describe("login", () => {
  const nothing = { COUNTERSIGN_URL: "", COUNTERSIGN_API_KEY: "", COUNTERSIGN_MANDATE: "" };

  /** Starts the sign-in, and returns the address that the browser would open. */
  async function signIn(file: string) {
    const env = environment({ ...nothing, COUNTERSIGN_CONFIG: file });
    const child = spawn(process.execPath, [command, "login", service.url, "--json"], { env });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = linesOf(child);
    let heard = "";
    child.stderr.on("data", (said: Buffer) => (heard += said.toString()));
    await expect.poll(() => heard).toContain("\n");
    return { child, ended, page: new URL(heard.replace("Sign in at ", "").trim()) };
  }

  test("saves the key of a service account in a file that only its owner can read, and the key works", async () => {
    const file = join(folder, "new", "config.json");
    const { ended, page } = await signIn(file);
    const callback = page.searchParams.get("redirect_uri") ?? "";
    // A page of any site can send requests to this machine. The next two must not end the wait.
    expect((await fetch(`${new URL(callback).origin}//`)).status).toBe(404);
    expect((await fetch(`${callback}?code=stolen&state=guessed&iss=${service.url}/api/auth`)).status).toBe(404);
    const capabilities = ["mandates:read", "payments:read"];
    const { data } = await decide(owner.credential, page.search.slice(1), { capabilities, mandateIds: [mandates.usual] });
    expect((await fetch(data.redirectTo)).status).toBe(200);
    const said = JSON.parse((await ended).lines[0] ?? "") as { readonly mandates: readonly { readonly mandateId: string }[] };
    expect(said).toMatchObject({ serviceAccountId: data.serviceAccountId, organizationId: owner.organizationId, file });
    expect(said.mandates.map(({ mandateId }) => mandateId)).toEqual([mandates.usual]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ url: service.url, apiKey: expect.stringMatching(/^csk_/) });
    expect((await cli(["budget"], { ...nothing, COUNTERSIGN_CONFIG: file, COUNTERSIGN_MANDATE: mandates.usual })).code).toBe(0);
  });

  test("saves nothing if the person refuses", async () => {
    const file = join(folder, "refused.json");
    const { child, ended, page } = await signIn(file);
    const query = { error: "access_denied", state: page.searchParams.get("state") ?? "", iss: `${service.url}/api/auth` };
    await fetch(`${page.searchParams.get("redirect_uri")}?${new URLSearchParams(query)}`);
    expect(JSON.parse((await ended).lines[0] ?? "")).toMatchObject({ error: "NotSignedIn" });
    expect([child.exitCode, await stat(file).catch(() => null)]).toEqual([1, null]);
  });
});

describe("mcp", () => {
  const launch = (change?: Change) => ({
    command: process.execPath,
    args: [command, "mcp"],
    env: environment(change) as Record<string, string>,
  });

  test("forwards messages to the service, and pays with the wallet of this machine if nobody else can sign", async () => {
    const mcp = new Client({ name: "agent", version: "1" });
    await mcp.connect(new StdioClientTransport(launch()));
    onTestFinished(() => mcp.close());
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain("fetch_paid");
    const call = async (url: string, mandateId: string, more: object = {}): Promise<unknown> =>
      (await mcp.callTool({ name: "fetch_paid", arguments: { url, mandateId, ...more } })).structuredContent;
    const answer = { status: 200, text: report, truncated: false, untrusted: true };
    const paid = { status: "paid", authorizationId: expect.any(String), execution: expect.any(Object), answer };
    expect(await call(`${seller.url}/report`, mandates.usual)).toEqual({ ...paid, repeated: false });
    expect(await call(`${seller.url}/report`, mandates.usual)).toMatchObject({ ...paid, repeated: true });
    expect(seller.served()).toBe(2);
    expect(await call(`${seller.url}/report`, mandates.usual, { purchaseId: "two" })).toEqual({ ...paid, repeated: false });
    expect(seller.served()).toBe(3);
    expect(await call(`${seller.url}/report`, mandates.poor)).toMatchObject({ status: "denied" });
    const asked = await call(`${seller.url}/report`, mandates.asking);
    expect(asked).toMatchObject({ status: "approvalRequired", approvalUrl: expect.stringContaining("/checkout/") });
    const id = (asked as { readonly approvalUrl: string }).approvalUrl.split("/").at(-1) ?? "";
    await reviewed(id, owner).then(() => approve(id, owner.credential));
    expect(await call(`${seller.url}/report`, mandates.asking)).toEqual({ ...paid, repeated: false });
    expect(await call("http://127.0.0.1:1/x", mandates.usual)).toMatchObject({ status: "refused" });
  });

  test("serves clients of protocol 2025 too, and says why a key is refused", async () => {
    const mcp = new OldClient({ name: "agent", version: "1" });
    await mcp.connect(new OldTransport(launch({ AGENT_PRIVATE_KEY: "" })));
    onTestFinished(() => mcp.close());
    const { structuredContent } = await mcp.callTool({ name: "get_budget", arguments: {} });
    expect(JSON.stringify(structuredContent)).toContain(mandates.usual);
    const wrong = new OldClient({ name: "agent", version: "1" });
    const refused = wrong.connect(new OldTransport(launch({ COUNTERSIGN_API_KEY: "csk_sandbox_wrong" })));
    await expect(refused).rejects.toThrow("key");
  });
});
