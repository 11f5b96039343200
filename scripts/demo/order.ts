import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { authorize, collect, execute, intentForStranger, meet, type AgentOptions } from "../../examples/without-package.ts";
import {
  askReadiness,
  preview,
  proceed,
  shoppingAt,
  sign,
  waitForBuyer,
  type Order,
  type Shopping,
} from "../../examples/order.ts";
import { startSeller } from "../../examples/seller.ts";
import { startStorefront } from "../../examples/storefront/server.ts";
import { confirm } from "./confirm.ts";
import { amountOf, executed, tellAnswer, tellReasons } from "./payment.ts";
import { letGo } from "./port.ts";
import { writeShoppingMandate, type Parties } from "./setup.ts";
import { facilitatorOn, type Stage } from "./stage.ts";
import { section, step } from "./timeline.ts";

const MINTED = 40_000_000n;
const PRICE = 28_000_000n;
const POLL_MS = 200;
const SETTLE_LIMIT_MS = 60_000;

const portOf = (host: string): number => Number(host.split(":")[1]);

/**
 * Pays a seller that is not registered, as most sellers on the web are not. A mandate may allow such sellers; their 402 contains
 * the terms.
 */
async function payStranger(stage: Stage, agent: AgentOptions): Promise<void> {
  const { chain, stranger, closing } = stage;
  const payTo = privateKeyToAddress(generatePrivateKey());
  const url = `http://${stranger}/weather`;
  await step("A seller that is not registered answers 402", async (tell) => {
    const facilitator = await facilitatorOn(chain);
    const seller = await startSeller({
      facilitator,
      payTo,
      prices: { "/weather": "$0.05" },
      port: await letGo(portOf(stranger)),
    });
    closing(seller.close);
    tell("seller", url);
  });
  await step("The mandate allows this seller, and the agent pays its price", async (tell) => {
    const terms = await meet(agent, url);
    const answer = await authorize(agent, intentForStranger(terms, amountOf(terms)));
    tellReasons(tell, answer);
    assert.equal(answer.authorization.policyDecision.outcome, "allow");
    const execution = await executed(execute(agent, answer.authorization, terms));
    await tellAnswer(tell, await collect(agent, url, execution));
    assert.equal(await chain.balanceOf(payTo), 50_000n, "The seller got its price.");
  });
  await step("The same 402 with another payee is refused", async (tell) => {
    const terms = await meet(agent, url);
    const posing = { ...intentForStranger(terms, amountOf(terms)), payTo: privateKeyToAddress(generatePrivateKey()) };
    const refused = await authorize(agent, posing);
    tellReasons(tell, refused);
    assert.equal(refused.authorization.policyDecision.denialCode, "challenge_mismatch");
  });
}

/** Repeats the call until the order is not `processing` any more, for at most a minute. Returns the last order. */
async function untilOver(ask: () => Promise<Order>): Promise<Order> {
  const until = Date.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const order = await ask();
    if (order.status !== "processing" || Date.now() > until) return order;
    await pause(POLL_MS);
  }
}

type Approval = { readonly checkoutIntentId: string; readonly confirmationUrl: string };

async function askBuyer(agent: AgentOptions, shopping: Shopping, { buyer }: Parties): Promise<Approval> {
  const previewed = await step("The agent checks that everything is ready, and previews the basket", async (tell) => {
    const { status, checks } = await askReadiness(agent, shopping);
    assert.notEqual(status, "blocked", "A readiness check prevents the order.");
    tell("ready", `${checks.filter((check) => check.status === "ready").length} checks`);
    const { intent, nextAction } = await preview(agent, shopping);
    tell("checkout", intent.checkoutIntentId);
    return { checkoutIntentId: intent.checkoutIntentId, confirmationUrl: nextAction.url ?? "" };
  });
  await step("Ada opens the link, reads the request, and approves", (tell) => confirm(tell, previewed.confirmationUrl, buyer));
  return previewed;
}

async function order(stage: Stage, parties: Parties, agent: AgentOptions) {
  const { chain, storefront, closing } = stage;
  const payTo = privateKeyToAddress(generatePrivateKey());
  const shop = await step("A storefront made of standard x402 parts starts", async (tell) => {
    const opened = await startStorefront({
      facilitator: await facilitatorOn(chain),
      payTo,
      port: await letGo(portOf(storefront)),
    });
    closing(opened.close);
    tell("shop", opened.url);
    return opened;
  });
  const shopping = shoppingAt(shop.url, [{ query: "blue mug", quantity: 2 }]);
  const { checkoutIntentId, confirmationUrl } = await askBuyer(agent, shopping, parties);
  await step("The agent continues: it redeems her approval, signs and pays", async (tell) => {
    const { continuationToken = "" } = await waitForBuyer(agent, checkoutIntentId);
    const call = { continuationToken, idempotencyKey: randomUUID() };
    const redeemed = await proceed(agent, checkoutIntentId, call);
    assert.equal(redeemed.status, "paymentCredentialRequired");
    const paymentCredential = await sign(agent, redeemed.paymentRequired ?? {});
    const first = await proceed(agent, checkoutIntentId, { ...call, paymentCredential });
    const placed = first.status === "processing" ? await untilOver(() => proceed(agent, checkoutIntentId, call)) : first;
    assert.equal(placed.status, "completed");
    const [known] = shop.orders();
    assert.equal(placed.storefront?.metadata?.["orderId"], known?.id, "The order is the storefront's.");
    assert.equal(await chain.balanceOf(payTo), PRICE, "The storefront got the price of two mugs.");
    tell("status", placed.status);
    tell("order", known?.id ?? "");
    tell("paid", `${placed.quote?.amount} ${placed.quote?.asset}`);
  });
  return { confirmationUrl };
}

/** Pays sellers and shops that are not registered, under a mandate that allows them. */
export async function shop(stage: Stage, parties: Parties): Promise<{ readonly confirmationUrl: string }> {
  const { service, chain, agent: wallet } = stage;
  section("The agent buys from sellers that are not registered");
  const mandate = await step("Ada writes a mandate that allows such sellers", async (tell) => {
    const active = await writeShoppingMandate(parties.buyer, parties.agentId, wallet.address);
    await chain.mint(wallet.address, MINTED);
    tell("mandate", active.mandateId);
    tell("limits", "50 USDC a payment, 100 a day, unregistered sellers; a person approves above 10 USDC");
    return active;
  });
  const agent = { serviceUrl: service.url, apiKey: parties.apiKey, mandateId: mandate.mandateId, wallet };
  await payStranger(stage, agent);
  return order(stage, parties, agent);
}
