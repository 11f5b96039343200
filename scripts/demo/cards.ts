import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { connectCards, setCard, STRIPE_VERSION } from "#lib/cards/contract.ts";
import { activateMandate, createMandate, getRemaining } from "#lib/mandates/contract.ts";
import type { Parties } from "./setup.ts";
import { section, step } from "./timeline.ts";

/** Small, so that Ada needs no proof of identity again. */
const policy = {
  unit: "USD" as const,
  assets: [{ asset: "USD", chain: "iso4217:USD", counts: "1" }],
  rails: ["card" as const],
  cards: { categories: ["computer_software_stores"] },
  limits: { perPayment: "3", total: "3" },
};
const cardId = "ic_demo";
const currency = "usd";
const hex = (): string => randomBytes(8).toString("hex");

/** An authorization as Stripe writes it. Amounts are in cents. */
const authorization = (id: string, change: object) => ({
  id,
  approved: false,
  status: "pending",
  amount: 0,
  currency,
  card: { id: cardId },
  merchant_data: { category: "computer_software_stores", country: "US", name: "Ink and Co", network_id: "4711" },
  ...change,
});

type Reply = { readonly approved?: boolean; readonly metadata?: { readonly reason?: string } };

/** Sends events as Stripe does, signed with the secret of the endpoint. */
const stripeAt = (url: string, secret: string) => async (type: string, object: object) => {
  const created = Math.floor(Date.now() / 1000);
  const event = { id: `evt_${hex()}`, type, created, api_version: STRIPE_VERSION, livemode: false, data: { object } };
  const body = JSON.stringify(event);
  const signature = createHmac("sha256", secret).update(`${created}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "stripe-signature": `t=${created},v1=${signature}` };
  const response = await fetch(url, { method: "POST", headers, body });
  assert.equal(response.status, 200, `${type} was answered ${response.status}.`);
  return (await response.json()) as Reply;
};

/** Plays Stripe: asks before a card pays, and tells what became of it. */
export async function payByCard({ buyer, agentId }: Parties): Promise<void> {
  section("A card of Stripe Issuing under a mandate");
  const { mandateId, stripe } = await step("Ada connects a Stripe account, and gives a card to a mandate", async (tell) => {
    const { mandateId: id } = await buyer.ask(createMandate, { body: { name: "Software", policy, agents: [agentId] } });
    await buyer.ask(activateMandate, { id });
    const webhookSecret = `whsec_${hex()}${hex()}`;
    const connection = await buyer.ask(connectCards, { body: { name: "Our Stripe account", webhookSecret } });
    const { connectionId, webhookUrl } = connection;
    await buyer.ask(setCard, { connectionId, cardId, body: { name: "Software", mandateId: id, serviceAccountId: agentId } });
    tell("limits", "3 USD in all, at shops for software");
    tell("at Stripe", "this service answers; on timeout and on error: decline");
    return { mandateId: id, stripe: stripeAt(webhookUrl, webhookSecret) };
  });
  const remain = async (): Promise<string> => {
    const { limits } = await buyer.ask(getRemaining, { id: mandateId });
    return `${limits.find(({ pointer }) => pointer === "/limits/total")?.remaining} USD`;
  };
  const ask = async (id: string, amount: number, change: object = {}): Promise<string> => {
    const asked = authorization(id, { pending_request: { amount, currency }, ...change });
    const { approved, metadata } = await stripe("issuing_authorization.request", asked);
    return `${approved ? "approve" : "decline"}: ${metadata?.reason}`;
  };
  const iauth = `iauth_${hex()}`;
  await step("Stripe asks before the card pays 2 USD", async (tell) => {
    const answer = await ask(iauth, 200);
    assert.equal(answer, "approve: allowed");
    tell("answer", answer);
    tell("remain", `${await remain()}; 2 are held`);
  });
  await step("Stripe asks about 1.50 USD more, and about an airline", async (tell) => {
    const merchant_data = { category: "airlines_air_carriers", country: "US", name: "Far Away", network_id: "4712" };
    const answers = [await ask(`iauth_${hex()}`, 150), await ask(`iauth_${hex()}`, 100, { merchant_data })];
    assert.deepEqual(answers, ["decline: total_budget_exceeded", "decline: clearance_needed"]);
    for (const answer of answers) tell("answer", answer);
  });
  await step("The shop captures two parts, and reverses the rest", async (tell) => {
    const told = { approved: true, amount: 200, request_history: [{}] };
    await stripe("issuing_authorization.created", authorization(iauth, told));
    for (const amount of [50, 70])
      await stripe("issuing_transaction.created", {
        id: `ipi_${hex()}`,
        type: "capture",
        amount: -amount,
        currency,
        authorization: iauth,
        card: cardId,
      });
    tell("captured", `1.20 of 2 USD; 0.80 are held, and ${await remain()} remain`);
    await stripe("issuing_authorization.updated", authorization(iauth, { ...told, status: "reversed" }));
    const left = await remain();
    assert.equal(left, "1.8 USD", "Only what was captured counts.");
    tell("reversed", `0.80 USD are free again, so ${left} remain`);
  });
}
