import assert from "node:assert/strict";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { authorize, collect, execute, intentFor, meet, type AgentOptions } from "../../examples/without-package.ts";
import { startSeller } from "../../examples/seller.ts";
import { verifyAudit } from "#lib/audit/contract.ts";
import { revokeMandate } from "#lib/mandates/contract.ts";
import { parseAmount } from "#lib/money.ts";
import { getPayment } from "#lib/payments/contract.ts";
import { getExecutionReceipt } from "#lib/payments/receipts/contract.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";
import { amountOf, DECIMALS, executed, tellAnswer, tellReasons, usdc, type payOnce } from "./payment.ts";
import { letGo } from "./port.ts";
import { registerShop, serviceAccountOf, type Parties } from "./setup.ts";
import type { Stage } from "./stage.ts";
import { section, step } from "./timeline.ts";

const secondPrices = { "/report": "$0.10" };

/**
 * Shows what a mandate does: payments above its limits are denied, a repeated request gets the same reply, and nothing is paid
 * after its owner revokes it. Then verifies the audit log and a receipt.
 */
export async function holdLimits(
  stage: Stage,
  { sellerId, buyer }: Parties,
  agent: AgentOptions,
  paid: Awaited<ReturnType<typeof payOnce>>,
): Promise<void> {
  section("The mandate limits the agent");
  await step("A payment above the limit is denied", async (tell) => {
    const url = `http://${stage.shop}/archive`;
    const amount = amountOf(await meet(agent, url));
    tell("asked for", `${url} for ${amount} USDC`);
    const refused = await authorize(agent, intentFor({ url, sellerId, resourceId: "archive", amount }));
    tellReasons(tell, refused);
    const { outcome, denialCode } = refused.authorization.policyDecision;
    assert.deepEqual([outcome, denialCode], ["deny", "per_payment_limit_exceeded"]);
  });
  await step("The first request is repeated: the same answer, and nothing is paid", async (tell) => {
    const again = await authorize(agent, paid.intent);
    assert.equal(again.text, paid.answer.text, "A replay has the same bytes.");
    assert.equal(again.replayed, true, "A replay says that it is one.");
    tell("bytes", `${Buffer.byteLength(again.text)}, all equal`);
    tell("header", "Idempotent-Replayed: true");
  });
  await step("Ada revokes the mandate, and the next request is denied", async (tell) => {
    const { status } = await buyer.ask(revokeMandate, { id: agent.mandateId, body: { reason: "The demo is over." } });
    tell("mandate", status);
    const url = `http://${stage.shop}/report`;
    const refused = await authorize(agent, intentFor({ url, sellerId, resourceId: "report", amount: paid.intent.amount }));
    tellReasons(tell, refused);
    const { outcome, denialCode } = refused.authorization.policyDecision;
    assert.deepEqual([outcome, denialCode], ["deny", "mandate_revoked"]);
  });
  await step("Ada verifies the audit log of these payments", async (tell) => {
    const { valid, count, head } = await buyer.ask(verifyAudit, { body: {} });
    assert.equal(valid, true, "The audit chain is whole.");
    tell("events", `${count} in a Merkle tree, none changed`);
    tell("root", head);
  });
  await step("She checks the receipt of the first payment without the service", async (tell) => {
    const { executions } = await buyer.ask(getPayment, { authorizationId: paid.answer.authorization.authorizationId });
    const receipt = await buyer.ask(getExecutionReceipt, { executionId: executions[0]?.executionId ?? "" });
    const keys: unknown = await (await fetch(`${stage.service.url}/.well-known/jwks.json`)).json();
    const verdict = await verifyReceipt(receipt, keys);
    assert.ok(verdict.ok && verdict.withProof, "The receipt verifies with the published keys alone.");
    tell("proved", verdict.proved);
    const changed = { ...receipt, proof: receipt.proof && { ...receipt.proof, event: receipt.proof.event.replace("0", "1") } };
    const refused = await verifyReceipt(changed, keys);
    assert.equal(refused.ok, false, "A changed receipt is refused.");
    tell("changed", refused.ok ? "" : `A changed receipt is refused: ${refused.detail}`);
  });
}

/**
 * Shows a second seller, made with the standard x402 library, that uses Countersign as its facilitator with one URL and one key.
 */
export async function payThroughUs(stage: Stage, { sellerOwner }: Parties, agent: AgentOptions): Promise<void> {
  const { service, secondShop, seller, chain, closing } = stage;
  section("The same with Countersign as the seller's facilitator");
  const sellerId = await step("Sam lets a second standard seller use /api/x402 with a key", async (tell) => {
    const { apiKey = "", keyPreview } = await serviceAccountOf(sellerOwner, "Second shop", ["payments:settle"]);
    const headers = { Authorization: `Bearer ${apiKey}` };
    const createAuthHeaders = () => Promise.resolve({ verify: headers, settle: headers, supported: headers });
    const facilitator = new HTTPFacilitatorClient({ url: `${service.url}/api/x402`, createAuthHeaders });
    const port = await letGo(Number(secondShop.split(":")[1]));
    const shop = await startSeller({ facilitator, payTo: seller.address, prices: secondPrices, port });
    closing(shop.close);
    tell("key", keyPreview);
    const registered = { name: "Example Data live", domain: secondShop, settlementMode: "facilitatorSettled" } as const;
    const id = await registerShop(stage, sellerOwner, registered, secondPrices);
    tell("seller", id);
    return id;
  });
  await step("The agent pays it; Countersign settles before the seller is called", async (tell) => {
    const url = `http://${secondShop}/report`;
    const before = await chain.balanceOf(seller.address);
    const terms = await meet(agent, url);
    const amount = amountOf(terms);
    const answer = await authorize(agent, intentFor({ url, sellerId, resourceId: "report", amount }));
    assert.equal(answer.authorization.policyDecision.outcome, "allow");
    tell("payment", answer.authorization.authorizationId);
    const execution = await executed(execute(agent, answer.authorization, terms));
    assert.equal(execution.settlementStatus, "settled");
    tell("status", execution.settlementStatus);
    await tellAnswer(tell, await collect(agent, url, execution));
    const price = parseAmount(secondPrices["/report"].slice(1), DECIMALS);
    assert.equal((await chain.balanceOf(seller.address)) - before, price, "The seller got the price.");
    tell("seller", `has ${usdc(price)} more`);
  });
}
