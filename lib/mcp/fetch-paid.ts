import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { PaymentRequired } from "@x402/core/types";
import { compileAccess } from "#lib/http/access.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { authorizePayment, executePayment } from "#lib/payments/contract.ts";
import { answerOf } from "#lib/mcp/answer-of.ts";
import { askPerson, questionOf, type Decided } from "#lib/mcp/ask-person.ts";
import { executeOnce, executeOwn, isOpen, untilKnown, type Executed } from "#lib/mcp/execution.ts";
import { untrustedIn, type FetchAnswer } from "#lib/mcp/fetch-shapes.ts";
import { refuseAddress, refuseMandate } from "#lib/mcp/judge-address.ts";
import { offerOf, type SellerOffer } from "#lib/mcp/offer-of.ts";
import { askSeller, noAnswer, type PaidRequest, type SellerReply } from "#lib/mcp/paid-client.ts";
import { savePurchase } from "#lib/mcp/purchase-store.ts";
import type { Purchase } from "#lib/mcp/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { askedIntent } from "#lib/mcp/shapes.ts";
import { refused, type ToolContext } from "#lib/mcp/tool.ts";
import { setupFor, signerOf, type Signer } from "#lib/mcp/who-signs.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import type { PaymentExecution } from "#lib/payments/payment-schema.ts";
import type { ErrorBody } from "#lib/problem.ts";

const SETTLE_SECONDS = 15;
/** For each organization. */
const PER_MINUTE = 240;

export type Wanted = PaidRequest & {
  readonly mandateId: string;
  readonly purpose?: string | undefined;
  readonly sellerId?: string | undefined;
  readonly resourceId?: string | undefined;
};

type Reply = FetchAnswer | InputRequiredResult;

const ended: Readonly<Record<Exclude<Decided, "approved">, string>> = {
  approvalDeclined: "A person said no. Nothing was paid. Do not ask again.",
  approvalExpired: "Nobody decided in time, so nobody refused. Nothing was paid. You may ask once more, with a new purchaseId.",
  ended: "The request ended and nothing was paid.",
};

const paidForAnother =
  "A person was asked only once for this payment, and it paid for another purchase with the same terms. Nothing was paid for this purchase. To buy again, call with a new purchaseId.";

const requireRights = [authorizePayment, executePayment].map(({ access }) => compileAccess(access));

/** Null if the call is allowed. Checks rights and rate first, or anybody could make the service call any address. */
export async function judge(on: ToolContext, { mandateId, method, url }: Wanted): Promise<FetchAnswer | null> {
  for (const requireRight of requireRights) requireRight(on.caller);
  const mandate = await on.call(reachable.getMandate, { id: mandateId });
  if (!mandate.ok) return refused(mandate.problem);
  await countAttempt("paidFetch", on.caller.organizationId, PER_MINUTE);
  const detail = refuseMandate(mandate.body, on.caller) ?? refuseAddress(method, url, mandate.body.policy);
  if (detail === null) return null;
  return {
    content: {
      status: "denied",
      next: `${detail} Nothing was sent. Choose another address or ask your person to change the mandate.`,
    },
  };
}

/** Asks the seller without a payment first, unless an earlier call has stored an authorization. */
export async function buy(on: ToolContext, wanted: Wanted, purchase: Purchase): Promise<Reply> {
  const { authorizationId } = purchase.row;
  if (authorizationId !== null) return resume(on, wanted, purchase, authorizationId);
  const reply = await askSeller(wanted, on.caller.organizationId);
  if (!reply) throw noAnswer(wanted.url);
  if (reply.status !== 402) {
    const answer = answerOf(reply);
    return { content: { status: "answered", answer }, ...untrustedIn(answer) };
  }
  const budget = await on.call(reachable.getRemaining, { id: wanted.mandateId });
  if (!budget.ok) return refused(budget.problem);
  const offer = offerOf(reply, wanted.url, budget.body.asset);
  const signer = await signerOf(wanted.mandateId, offer);
  if (!signer) {
    const next =
      "Nobody can sign this payment yet, and nothing was reserved. Do what setup says, and call again with the same arguments.";
    return { content: { status: "setupRequired", setup: setupFor(wanted.mandateId, offer), next } };
  }
  const authorized = await authorize(on, wanted, purchase, offer);
  if (!authorized.ok) return refused(authorized.problem);
  await savePurchase(purchase.row, { authorizationId: authorized.body.authorizationId });
  return decide(on, wanted, purchase, authorized.body);
}

async function resume(on: ToolContext, wanted: Wanted, purchase: Purchase, authorizationId: string): Promise<Reply> {
  const read = await on.call(reachable.getPayment, { authorizationId });
  if (!read.ok) return refused(read.problem);
  return decide(on, wanted, purchase, read.body.authorization);
}

type Found = { readonly ok: true; readonly body: Authorization } | { readonly ok: false; readonly problem: ErrorBody };

async function authorize(on: ToolContext, wanted: Wanted, purchase: Purchase, offer: SellerOffer): Promise<Found> {
  const { mandateId, purpose, sellerId, resourceId } = wanted;
  const { payTo, amount, asset, challenge } = offer;
  const named = sellerId === undefined ? { seller: {}, payTo } : { seller: { sellerId } };
  const asked = {
    ...named,
    ...(resourceId !== undefined && { resource: { resourceId } }),
    enforcementPath: "offchain" as const,
    paymentChallengeType: "x402" as const,
    amount,
    asset: asset.asset,
    chain: asset.chain,
    challenge: challenge as unknown as Record<string, unknown>,
  };
  const idempotencyKey = purchase.row.purchaseKey;
  const intent = { ...askedIntent(asked, purpose), idempotencyKey };
  const answer = await on.call(reachable.authorizePayment, { body: { mandateId, intent } });
  if (answer.ok || answer.problem.code !== "idempotency_key_reused") return answer;
  // The seller's 402 changed after an earlier call had authorized. With the same amount and payee it is the same purchase.
  const listed = await on.call(reachable.listPayments, { query: { idempotencyKey, mandateId } });
  const same = listed.ok
    ? listed.body.items.find(({ intent: it }) => it.amount === amount && it.payTo?.toLowerCase() === payTo)
    : undefined;
  return same ? { ok: true, body: same.authorization } : answer;
}

async function decide(on: ToolContext, wanted: Wanted, purchase: Purchase, authorization: Authorization): Promise<Reply> {
  const { policyDecision: decision, authorizationId } = authorization;
  if (decision.outcome === "allow") {
    const executed = await executeOnce(on, authorizationId, () => credentialFor(on, wanted, authorizationId));
    return pay(on, wanted, purchase, authorizationId, executed);
  }
  const question = decision.outcome === "requireApproval" ? questionOf(authorization) : null;
  if (!question) {
    const next =
      "The mandate denies this payment, and nothing was paid. Do not repeat it. Tell your person why, or choose another seller.";
    return { content: { status: "denied", authorizationId, decision, next } };
  }
  const asked = await askPerson(on, purchase, question);
  if (asked.kind === "refused") return refused(asked.problem);
  if (asked.kind === "input") return asked.result;
  if (asked.kind === "waiting") return { content: { ...asked.content, decision } };
  if (asked.decided === "approved") {
    const { authorizationId: approvedId } = question;
    const shared = { authorizationId: approvedId, ownId: authorizationId };
    const executed = await executeOwn(on, shared, () => credentialFor(on, wanted, approvedId));
    if (executed !== "paidForAnother") return pay(on, wanted, purchase, approvedId, executed);
    return { content: { status: "ended", authorizationId, next: paidForAnother } };
  }
  return { content: { status: asked.decided, authorizationId, next: ended[asked.decided] } };
}

async function pay(on: ToolContext, wanted: Wanted, purchase: Purchase, authorizationId: string, done: Executed): Promise<Reply> {
  if (!done.ok) return refused(done.problem);
  const execution = await untilKnown(on, authorizationId, done.execution, SETTLE_SECONDS);
  if (isOpen(execution)) {
    const next = "The payment is under way. Call again with the same arguments. Do not pay again.";
    return { content: { status: "settling", authorizationId, execution, next } };
  }
  if (execution.settlementStatus === "failed") return failed(authorizationId, execution);
  return show(on, wanted, purchase, authorizationId, execution);
}

/** The reserved amount is released, so this purchase cannot be paid any more. */
function failed(authorizationId: string, execution: PaymentExecution): Reply {
  const why = execution.failureDetail === undefined ? "" : ` ${execution.failureDetail}`;
  const next = `The payment failed, and the seller was not paid.${why} To try again, call with a new purchaseId.`;
  return { content: { status: "refused", authorizationId, execution, next }, isError: true };
}

async function credentialFor(on: ToolContext, { mandateId, url }: Wanted, authorizationId: string) {
  const read = await on.call(reachable.getPayment, { authorizationId });
  if (!read.ok) return read;
  const { challenge, asset, chain } = read.body.intent;
  const headers = { "payment-required": Buffer.from(JSON.stringify(challenge as unknown as PaymentRequired)).toString("base64") };
  const offer = offerOf({ status: 402, headers, body: null }, url, { asset, chain });
  const signer: Signer | null = await signerOf(mandateId, offer);
  if (signer !== "testWallet") return { ok: true as const, text: undefined };
  const signed = await on.call(reachable.signSamplePayment, { body: { authorizationId } });
  return signed.ok ? { ok: true as const, text: signed.body.paymentCredential } : signed;
}

const isServed = (status: number): boolean => status < 400;

/** The signed payment can be paid only once, so a repeat may send it again. */
async function show(
  on: ToolContext,
  wanted: Wanted,
  purchase: Purchase,
  authorizationId: string,
  execution: PaymentExecution,
): Promise<Reply> {
  const paymentSignature = Object.values(execution.credentialHeaders ?? {})[0];
  const reply = await askSeller(
    { ...wanted, ...(paymentSignature !== undefined && { paymentSignature }) },
    on.caller.organizationId,
  );
  if (!reply || !isServed(reply.status)) return notServed(on, authorizationId, execution, reply);
  const { executionId, settlementStatus } = execution;
  const found = { authorizationId, execution: { executionId, settlementStatus } };
  const answer = answerOf(reply);
  const content = { status: "paid" as const, ...found, answer };
  await savePurchase(purchase.row, { result: JSON.stringify(content) });
  return { content, ...untrustedIn(answer) };
}

/** The seller may have the credential and did not serve; the chain shows whether the payment was made. */
async function notServed(
  on: ToolContext,
  authorizationId: string,
  { executionId }: PaymentExecution,
  reply: SellerReply | null,
): Promise<Reply> {
  const read = await on.call(reachable.getPayment, { authorizationId });
  const now = read.ok ? read.body.executions.find((one) => one.executionId === executionId) : undefined;
  if (now?.settlementStatus === "failed") return failed(authorizationId, now);
  const found = { authorizationId, ...(now && { execution: now }), ...(reply && { answer: answerOf(reply) }) };
  if (now?.settlementStatus === "settled") {
    const next =
      "The payment is on the chain, and the seller does not serve. Do not pay again. Tell your person; get_payment has the receipt.";
    return { content: { status: "paidButNotServed", ...found, next }, isError: true };
  }
  const next =
    "The seller has the payment and did not serve. Call again with the same arguments: the same payment is sent again, and nothing is paid twice. get_payment says whether it settled.";
  return { content: { status: "notServed", ...found, next }, isError: true };
}
