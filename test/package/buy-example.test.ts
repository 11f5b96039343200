import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startSeller } from "../../examples/seller.ts";
import { env } from "#lib/env.ts";
import * as contract from "#lib/payments/contract.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import { approve, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { paymentScene, useSettlement, type PaymentScene } from "#test/payments.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { startServer } from "#test/server.ts";
import { ourFacilitator, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();

const root = join(import.meta.dirname, "../..");
let folder = "";
beforeAll(async () => {
  await mkdir(join(root, ".test"), { recursive: true });
  folder = await mkdtemp(join(root, ".test", "buy-"));
  await writeFile(join(folder, "example.mjs"), withSteps(await readFile(join(root, "examples/buy.mjs"), "utf8")));
  await writeFile(join(folder, "run.ts"), runner);
  // One file with all libraries starts in a third of the time, and the test starts it about 40 times.
  await using bundle = await rolldown({ input: join(folder, "run.ts"), platform: "node", logLevel: "silent" });
  await bundle.write({ file: join(folder, "run.mjs"), format: "esm", codeSplitting: false });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Inserts a step before each statement of the functions. The test can kill the process at each step. */
const withSteps = (source: string): string =>
  source
    .split("\n")
    .map((line) => (/^ {2}[^\s})\]]/.test(line) ? `  globalThis.step();\n${line}` : line))
    .join("\n");

/**
 * The program that runs the example for each order that it is sent. The arrival of an answer is a step of its own, before the
 * agent reads the answer.
 */
const runner = `
let steps = 0;
let killedAt = 0;
globalThis.step = () => {
  steps += 1;
  if (steps === killedAt) process.kill(process.pid, "SIGKILL");
};
const send = globalThis.fetch;
globalThis.fetch = async (...asked) => {
  const answer = await send(...asked);
  globalThis.step();
  return answer;
};
process.on("message", async ({ id, asked, killed }) => {
  const { buy } = await import("./example.mjs");
  [steps, killedAt] = [0, killed];
  try {
    const answer = await buy(asked);
    process.send({ id, result: { steps, status: answer.status, text: await answer.text() } });
  } catch (error) {
    process.send({ id, result: { steps, refused: error.message } });
  }
});
`;

type RunResult = { readonly steps: number; readonly status?: number; readonly text?: string; readonly refused?: string };

type Scene = Pick<PaymentScene, "agent" | "mandateId" | "seller">;
type Shop = { readonly scene: Scene; readonly serviceUrl: string; readonly url: string; readonly privateKey: string };

type Told = { readonly id: number; readonly result: RunResult };

/** Starts a process of the example. */
function startAgent({ scene, serviceUrl, url, privateKey }: Shop) {
  const { sellerId, resourceId, price: amount } = scene.seller;
  const { mandateId } = scene;
  const child = spawn(process.execPath, [join(folder, "run.mjs")], {
    cwd: root,
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      COUNTERSIGN_URL: serviceUrl,
      COUNTERSIGN_API_KEY: scene.agent.credential["authorization"]?.slice("Bearer ".length),
      AGENT_PRIVATE_KEY: privateKey,
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once("close", (_, signal) => resolve(signal)));
  const waiting: ((result: RunResult) => void)[] = [];
  child.on("message", ({ id, result }: Told) => waiting[id]?.(result));
  const ask = (order: string, attempt: number, killed: number): Promise<RunResult> => {
    const { promise, resolve } = Promise.withResolvers<RunResult>();
    const asked = { url: `${url}/report`, mandateId, sellerId, resourceId, amount, order, attempt };
    child.send({ id: waiting.push(resolve) - 1, asked, killed });
    return promise;
  };
  return {
    run: async (order: string, { attempt = 1 } = {}): Promise<RunResult> => {
      const result = await Promise.race([ask(order, attempt, 0), ended]);
      if (result === null || typeof result === "string") throw new Error("The agent's process ended.");
      return result;
    },
    /** Resolves when the process was killed at this step. */
    killedAt: async (order: string, step: number): Promise<void> => {
      expect(await Promise.race([ask(order, 1, step), ended]), order).toBe("SIGKILL");
    },
    stop: async (): Promise<void> => {
      child.kill();
      await ended;
    },
  };
}

/** Runs the example in a process of its own. */
async function run(shop: Shop, order: string, options: { readonly attempt?: number } = {}): Promise<RunResult> {
  const agent = startAgent(shop);
  try {
    return await agent.run(order, options);
  } finally {
    await agent.stop();
  }
}

async function madeOf({ agent }: Scene, order: string) {
  const { data } = await send(contract.listPayments, listPayments, { as: agent.credential, query: `?idempotencyKey=${order}` });
  return data.items.map(({ authorization, executions }) => [
    authorization.policyDecision.outcome,
    ...executions.map(({ settlementStatus }) => settlementStatus),
  ]);
}

const mandate = { policy: { assets, limits: { perPayment: "2", total: "100" } } };

async function agentKey(): Promise<string> {
  const privateKey = generatePrivateKey();
  await chain().mint(privateKeyToAddress(privateKey), 100_000_000n);
  return privateKey;
}

/** Starts a service in its own process, and a seller with the standard x402 library. */
async function openShop(seller: Scene["seller"], price = "$0.25") {
  const service = await startServer();
  onTestFinished(() => service.stop());
  const prices = { "/report": price };
  const shop = await startSeller({ facilitator: await stockFacilitator(chain()), payTo: seller.payTo, prices });
  onTestFinished(() => shop.close());
  return { scene: { seller }, serviceUrl: service.url, url: shop.url, privateKey: await agentKey() };
}

const paid = { status: 200, text: JSON.stringify({ report: "all is well" }) };
const atOnce = 3;

/** Starts a TCP proxy to the chain's RPC, which the test can interrupt. */
async function wireTo(target: string): Promise<ListeningServer & { cut(): void; mend(): void }> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  let whole = true;
  const server = createServer((client) => {
    if (!whole) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => (sockets.delete(one), other.destroy()));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    whole = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => void (whole = true),
    close: () => (cut(), new Promise((resolve) => server.close(() => resolve()))),
  };
}

describe("the agent without the package", () => {
  test.each(["offchainAuthorized", "facilitatorSettled"] as const)(
    "that is killed at each step and started again pays once, with one hold, and gets the paid answer: %s",
    async (settlementMode) => {
      const scene = await paymentScene({ settlementMode, mandate });
      const service = await startServer();
      onTestFinished(() => service.stop());
      const { credential } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
      const facilitator =
        settlementMode === "facilitatorSettled"
          ? ourFacilitator({ url: service.url, close: () => service.stop() }, credential["authorization"] ?? "")
          : await stockFacilitator(chain());
      const seller = await startSeller({ facilitator, payTo: scene.seller.payTo });
      onTestFinished(() => seller.close());
      const shop = { scene, serviceUrl: service.url, url: seller.url, privateKey: await agentKey() };

      // This process knows nothing of the killed ones, so it starts again for all of them.
      const next = startAgent(shop);
      onTestFinished(() => next.stop());
      const whole = await next.run("order-0");
      expect(whole).toMatchObject(paid);
      const { steps } = whole;
      expect(steps).toBeGreaterThan(12);
      // Both settlement modes are the same until the payment is authorized, so facilitatorSettled is tested only in the second
      // half of the steps.
      const from = settlementMode === "facilitatorSettled" ? Math.floor(steps / 2) : 1;
      const left = Array.from({ length: steps + 1 - from }, (_, index) => from + index);
      const orders = left.length + 1;
      const worker = async () => {
        for (let step = left.shift(); step !== undefined; step = left.shift()) {
          const order = `order-${step}`;
          await startAgent(shop).killedAt(order, step);
          const again = await next.run(order);
          // A seller accepts a signed payment only once, so an answer that the killed agent had received is lost.
          if (step === steps) expect(again, order).toMatchObject({ status: 402 });
          else expect(again, order).toMatchObject(paid);
          expect(await madeOf(scene, order), order).toMatchObject([["allow", expect.anything()]]);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n * BigInt(orders));
      expect(await brokenSums()).toEqual([]);
    },
  );

  test("that is called again after an outage of the chain pays with its first hold", async () => {
    const wire = await wireTo(chain().rpcUrl);
    onTestFinished(() => wire.close());
    const scene = await paymentScene({ mandate });
    const chains = env().CHAINS.map((one) => ({ ...one, rpcUrl: wire.url }));
    const service = await startServer({ CHAINS: JSON.stringify(chains) });
    onTestFinished(() => service.stop());
    const seller = await startSeller({ facilitator: await stockFacilitator(chain()), payTo: scene.seller.payTo });
    onTestFinished(() => seller.close());
    const shop = { scene, serviceUrl: service.url, url: seller.url, privateKey: await agentKey() };
    wire.cut();
    expect((await run(shop, "away")).refused).toMatch(/^rpc_unavailable: .*same key/);
    expect(await madeOf(scene, "away")).toEqual([["allow"]]);
    wire.mend();
    expect(await run(shop, "away")).toMatchObject(paid);
    expect(await madeOf(scene, "away")).toMatchObject([["allow", expect.anything()]]);
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
  });

  test("waits for a person: the error names the page, and after the approval the same order of 2 USDC is paid", async () => {
    const person = await newOrganization();
    const agent = await newKey(person);
    const owner = await newOrganization({ productRoles: ["seller"], name: "Shop" });
    const shop = await openShop(await newSeller(owner.credential, { price: "2", payTo: randomAddress() }), "$2");
    const mandateId = await activeMandate(person.credential, { policy: { ...mandate.policy, approval: { mode: "always" } } });
    const asking = { ...shop, scene: { ...shop.scene, agent, mandateId } };
    const { refused = "" } = await run(asking, "approved");
    const checkoutIntentId = /^approval_required: .*\/checkout\/(cki_\w+)\.$/.exec(refused)?.[1] ?? refused;
    await reviewed(checkoutIntentId, person);
    expect((await approve(checkoutIntentId, person.credential)).status).toBe(200);
    expect(await run(asking, "approved")).toMatchObject(paid);
    expect(await madeOf(asking.scene, "approved")).toMatchObject([["requireApproval", expect.anything()]]);
  });

  test("continues with the next attempt under the first hold after its wallet is funded", async () => {
    const scene = await paymentScene({ mandate });
    const privateKey = generatePrivateKey();
    const shop = { ...(await openShop(scene.seller)), scene, privateKey };
    expect((await run(shop, "poor")).refused).toMatch(/^insufficient_funds: /);
    await chain().mint(privateKeyToAddress(privateKey), 1_000_000n);
    expect((await run(shop, "poor")).refused).toMatch(/^insufficient_funds: /);
    expect(await run(shop, "poor", { attempt: 2 })).toMatchObject(paid);
    expect(await madeOf(scene, "poor")).toMatchObject([["allow", expect.anything(), "failed"]]);
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
  });
});
