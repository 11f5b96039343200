import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { failure, payHere, purchases } from "../../sdk/src/cli/pay-here.ts";
import { NotServed, PaidButNotServed, type Attempt } from "../../sdk/src/errors.ts";
import { plain } from "#test/package.ts";
import { listen } from "#test/shop.ts";

const command = join(import.meta.dirname, "../../sdk/src/cli.ts");

type Asked = { readonly id: number; readonly method: string };
type Held = { readonly asked: Asked; readonly version: unknown; answer(result: object): void };

test("mcp sends no message while the handshake of protocol 2025 is open, even if an earlier message is answered", async () => {
  const held: Held[] = [];
  const hold = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = (await json(request)) as Asked;
    const answer = (result: object) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id: asked.id, result }));
    held.push({ asked, version: request.headers["mcp-protocol-version"], answer });
  };
  const service = await listen(createServer((request, response) => void hold(request, response).catch(() => response.destroy())));
  onTestFinished(() => service.close());
  const settings = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_sandbox_any", AGENT_PRIVATE_KEY: "" };
  const bridge = spawn(process.execPath, [command, "mcp"], {
    env: { ...plain, NODE_ENV: "production", NODE_OPTIONS: "", ...settings },
  });
  onTestFinished(() => void bridge.kill("SIGKILL"));
  const methods = ["ping", "initialize", "tools/list"];
  for (const [id, method] of methods.entries()) bridge.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method })}\n`);
  const heldOf = async (method: string): Promise<Held> => {
    await expect.poll(() => held.map(({ asked }) => asked.method)).toContain(method);
    return held.find(({ asked }) => asked.method === method)!;
  };
  const handshake = await heldOf("initialize");
  (await heldOf("ping")).answer({});
  await once(bridge.stdout, "data");
  handshake.answer({ protocolVersion: "2025-06-18" });
  expect(await heldOf("tools/list")).toMatchObject({ version: "2025-06-18" });
});

test.each([
  ["200 and an empty stream", 200, "text/event-stream"],
  ["202 and no body", 202, "application/json"],
])("mcp answers a call with an error if the service replies with %s", { timeout: 60_000 }, async (_, status, type) => {
  const service = await listen(createServer((_, response) => response.writeHead(status, { "content-type": type }).end()));
  onTestFinished(() => service.close());
  const settings = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_sandbox_any", AGENT_PRIVATE_KEY: "" };
  const bridge = spawn(process.execPath, [command, "mcp"], {
    env: { ...plain, NODE_ENV: "production", NODE_OPTIONS: "", ...settings },
  });
  onTestFinished(() => void bridge.kill("SIGKILL"));
  bridge.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call" })}\n`);
  expect(JSON.parse((await text(bridge.stdout)) || "null")).toMatchObject({ id: 7, error: { code: -32_603 } });
});

test.each([
  ["an answer without end", Infinity, true],
  ["a mebibyte", 1 << 20, false],
])(
  "mcp reads at most a mebibyte of %s, and does not call it paid if nothing was paid",
  { timeout: 60_000 },
  async (_, size, truncated) => {
    const closed = Promise.withResolvers<void>();
    const seller = await listen(
      createServer((_request, response) => {
        let left = size;
        const write = () => {
          for (let goesOn = true; goesOn && left > 0; left -= 65_536) goesOn = response.write("a".repeat(65_536));
          if (left <= 0) response.end();
        };
        response.on("drain", write).on("close", closed.resolve);
        write();
      }),
    );
    onTestFinished(() => seller.close());
    const pay = payHere({ url: seller.url, apiKey: "csk_sandbox_any" }, privateKeyToAccount(generatePrivateKey()));
    const asked = { method: "tools/call", params: { name: "fetch_paid", arguments: { url: seller.url, mandateId: "mdt_1" } } };
    const answer = { jsonrpc: "2.0", id: 1, result: { structuredContent: { status: "setupRequired" } } };
    const { structuredContent } = (await pay(asked, answer, new AbortController().signal))?.result ?? {};
    expect(structuredContent).toMatchObject({ status: "answered", answer: { status: 200, truncated }, repeated: false });
    expect((structuredContent as { answer: { text: string } }).answer.text).toHaveLength(1 << 20);
    await closed.promise;
  },
);

test("mcp tells a payment that is settled from one that is not, if the seller did not serve", () => {
  const attempt = { execution: { executionId: "exe_1" } } as unknown as Attempt;
  const statusOf = (error: unknown) => failure({ jsonrpc: "2.0", id: 1, result: {} }, error).result?.["structuredContent"];
  expect(statusOf(new NotServed(attempt))).toMatchObject({ status: "notServed" });
  expect(statusOf(new PaidButNotServed(attempt))).toMatchObject({ status: "paidButNotServed" });
  const open = { ...attempt, execution: { executionId: "exe_1", settlementStatus: "unknown" } } as Attempt;
  expect(statusOf(new NotServed(open))).toMatchObject({ status: "settling" });
});

test("mcp takes a repeat within ten minutes for the same purchase, however many purchases come between, and keeps 50 answers", () => {
  const purchaseOf = purchases();
  const argsOf = (at: number) => ({ url: `https://seller.example.com/${at}`, mandateId: "mdt_1" });
  const made = Array.from({ length: 200 }, (_, at) => {
    const purchase = purchaseOf(argsOf(at));
    purchase.paid = { status: "paid" };
    return purchase;
  });
  expect(made.map((_, at) => purchaseOf(argsOf(at)).operation)).toEqual(made.map(({ operation }) => operation));
  expect(made.flatMap(({ paid }, at) => (paid ? [at] : [])).slice(0, 1)).toEqual([149]);
});

test.each(["mcp", "budget"])("%s takes no argument", async (name) => {
  const settings = { COUNTERSIGN_URL: "http://127.0.0.1:9", COUNTERSIGN_API_KEY: "csk_sandbox_any", AGENT_PRIVATE_KEY: "" };
  const env = { ...plain, NODE_ENV: "production" as const, NODE_OPTIONS: "", ...settings, COUNTERSIGN_MANDATE: "any" };
  const child = spawn(process.execPath, [command, name, "x"], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const heard = text(child.stderr);
  expect([await once(child, "close"), await heard]).toEqual([[2, null], `${name} takes no argument. Leave x out.\n`]);
});
