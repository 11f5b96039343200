import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { PaymentRequired } from "@x402/core/types";
import { compileAccess } from "#lib/http/access.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { sellerAnswerOf } from "#lib/mcp/tools/answer-of.ts";
import { endedStatus, personFor, type Person } from "#lib/mcp/ask-person.ts";
import { Refused } from "#lib/mcp/tools/call-operation.ts";
import { executing, readPayment, untilKnown, type Seen } from "#lib/mcp/purchase/execution.ts";
import { untrustedIn, type FetchAnswer } from "#lib/mcp/tools/fetch-shapes.ts";
import { refuseAddress, refuseMandate } from "#lib/mcp/purchase/judge-address.ts";
import { offerOf, type SellerOffer } from "#lib/mcp/purchase/offer-of.ts";
import { askSeller, noAnswer, type PaidRequest, type SellerReply } from "#lib/mcp/purchase/paid-client.ts";
import { savePurchase } from "#lib/mcp/purchase-store.ts";
import type { Purchase } from "#lib/mcp/purchase/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { askedIntent } from "#lib/mcp/tools/shapes.ts";
import type { ToolContext } from "#lib/mcp/tools/tool.ts";
import { setupFor, payingSignerOf } from "#lib/mcp/purchase/who-signs.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import { authorizePayment, executePayment, getPayment } from "#lib/payments/contract.ts";
import type { PaymentExecution } from "#lib/payments/payment-schema.ts";
import { afterReading, follow, samePurchase, type Transport } from "#purchase/follow.ts";
import { noFacts, questionIn, type Facts, type Step, type Why } from "#purchase/step.ts";

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

const ended = {
  approvalDeclined: "A person said no. Nothing was paid. Do not ask again.",
  approvalExpired: "Nobody decided in time, so nobody refused. Nothing was paid. You may ask once more, with a new purchaseId.",
  ended: "The request ended and nothing was paid.",
} as const;

const notServed = {
  notServed:
    "The seller has the payment and did not serve. Call again with the same arguments: the same payment is sent again, and nothing is paid twice. get_payment says whether it settled.",
  paidButNotServed:
    "The payment is on the chain, and the seller does not serve. Do not pay again. Tell your person; get_payment has the receipt.",
} as const;

const denied =
  "The mandate denies this payment, and nothing was paid. Do not repeat it. Tell your person why, or choose another seller.";
const settling = "The payment is under way. Call again with the same arguments. Do not pay again.";
const paidForAnother =
  "A person was asked only once for this payment, and it paid for another purchase with the same terms. Nothing was paid for this purchase. To buy again, call with a new purchaseId.";

const requireRights = [authorizePayment, executePayment, getPayment].map(({ access }) => compileAccess(access));

/** Null if the call is allowed. Checks rights and rate first, or anybody could make the service call any address. */
export async function judgeFetch(on: ToolContext, { mandateId, method, url }: Wanted): Promise<FetchAnswer | null> {
  for (const requireRight of requireRights) requireRight(on.caller);
  const mandate = await on.call(reachable.getMandate, { id: mandateId });
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

/** What the steps of one call have seen. `reply` is the seller's last answer. */
type Buying = Seen & {
  readonly on: ToolContext;
  readonly wanted: Wanted;
  readonly purchase: Purchase;
  own?: Authorization;
  offer?: SellerOffer;
  reply?: SellerReply | null;
  /** The answer of a call that ends before anything is authorized. */
  early?: FetchAnswer;
};
type Now = Facts<PaymentExecution>;

const nullIfRefused = (error: unknown): null => {
  if (error instanceof Refused) return null;
  throw error;
};

/** Asks the seller without a payment first, unless an earlier call has stored an authorization. */
export async function buy(on: ToolContext, wanted: Wanted, purchase: Purchase): Promise<Reply> {
  const buying: Buying = { on, wanted, purchase };
  const person = personFor(on, purchase);
  const { authorizationId } = purchase.row;
  const stored = authorizationId === null ? null : await readPayment(on, authorizationId, buying);
  if (stored) buying.own = stored.authorization;
  // Another purchase may have executed a payment that a person approves, so its executions are read after the approval.
  const executions = stored && !questionIn(stored.authorization) ? stored.executions : null;
  const begun = { ...noFacts, authorization: buying.own ?? null, executions };
  const { step } = await follow<PaymentExecution>(begun, transportOf(buying, person));
  const { own, early } = buying;
  if (!own) return early ?? refusedAs(buying);
  if (step.step === "ask") return person.answer(step.question, own, { decision: own.policyDecision });
  return endOf(buying, own, step);
}

function transportOf(buying: Buying, person: Person): Transport<PaymentExecution> {
  const { on, wanted } = buying;
  return {
    ...person.steps,
    ...executing(on, buying, (authorizationId) => credentialFor(buying, authorizationId)),
    authorize: async ({ from }, facts) => (from === "earlier" ? findEarlier(buying, facts) : authorize(buying, facts)),
    async outcome({ execution }, facts) {
      const now = await untilKnown(on, execution.authorizationId, execution, SETTLE_SECONDS);
      return { ...afterReading(facts, now), isLate: true };
    },
    // The signed payment can be paid only once, so a repeat may send it again.
    async show({ execution }, facts) {
      const [paymentSignature] = Object.values(execution.credentialHeaders ?? {});
      const request = { ...wanted, ...(paymentSignature !== undefined && { paymentSignature }) };
      buying.reply = await askSeller(request, on.caller.organizationId);
      if (buying.reply && isServed(buying.reply.status)) return { ...facts, shown: "served" };
      // The seller may have the credential and did not serve; the chain shows whether the payment was made.
      // Whatever the service answers now, the seller has the payment, and the agent must hear that.
      const read = await readPayment(on, execution.authorizationId, buying).catch(nullIfRefused);
      const now = read?.executions.find(({ executionId }) => executionId === execution.executionId) ?? execution;
      return { ...afterReading(facts, now), shown: "notServed", isLate: true };
    },
  };
}

async function authorize(buying: Buying, facts: Now): Promise<Now | null> {
  const { on, wanted, purchase } = buying;
  const { mandateId, url } = wanted;
  const reply = await askSeller(wanted, on.caller.organizationId);
  if (!reply) throw noAnswer(url);
  if (reply.status !== 402) {
    const answer = sellerAnswerOf(reply);
    buying.early = { content: { status: "answered", answer }, ...untrustedIn(answer) };
    return null;
  }
  const { asset, assets = asset ? [asset] : [] } = (await on.call(reachable.getRemaining, { id: mandateId })).body;
  const offer = offerOf(reply, url, assets);
  if (!(await payingSignerOf(mandateId, offer))) {
    const next =
      "Nobody can sign this payment yet, and nothing was reserved. Do what setup says, and call again with the same arguments.";
    buying.early = { content: { status: "setupRequired", setup: setupFor(mandateId, offer), next } };
    return null;
  }
  buying.offer = offer;
  try {
    const intent = { ...intentOf(wanted, offer), idempotencyKey: purchase.row.purchaseKey };
    const { body, replayed } = await on.call(reachable.authorizePayment, { body: { mandateId, intent } });
    return await withAuthorization(buying, { ...facts, executions: replayed ? null : [] }, body);
  } catch (error) {
    if (!(error instanceof Refused) || error.problem.code !== "idempotency_key_reused") throw error;
    buying.refusal = error;
    return { ...facts, key: "reused" };
  }
}

function intentOf({ purpose, sellerId, resourceId }: Wanted, { payTo, amount, asset, challenge }: SellerOffer) {
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
  return askedIntent(asked, purpose);
}

async function withAuthorization(buying: Buying, facts: Now, authorization: Authorization): Promise<Now> {
  buying.own = authorization;
  await savePurchase(buying.purchase.row, { authorizationId: authorization.authorizationId });
  return { ...facts, authorization, ...(questionIn(authorization) && { executions: null }) };
}

/** The seller's 402 changed after an earlier call had authorized. */
async function findEarlier(buying: Buying, facts: Now): Promise<Now> {
  const { on, wanted, purchase, offer } = buying;
  const idempotencyKey = purchase.row.purchaseKey;
  const { items } = (await on.call(reachable.listPayments, { query: { idempotencyKey, mandateId: wanted.mandateId } })).body;
  const terms = offer && { ...offer, ...offer.asset, idempotencyKey, url: offer.challenge.resource?.url ?? "" };
  const same = terms && samePurchase(items, terms);
  return same ? withAuthorization(buying, facts, same.authorization) : { ...facts, key: "unused" };
}

/** What the authorized payment asks for: the seller's 402 of this call, or the one of the call that authorized it. */
async function offerIn(buying: Buying, authorizationId: string): Promise<SellerOffer> {
  const { on, wanted, offer } = buying;
  if (offer) return offer;
  const { challenge, asset, chain } = (buying.payment ?? (await readPayment(on, authorizationId, buying))).intent;
  const headers = { "payment-required": Buffer.from(JSON.stringify(challenge as unknown as PaymentRequired)).toString("base64") };
  return offerOf({ status: 402, headers, body: null }, wanted.url, [{ asset, chain }]);
}

/** Undefined if the service signs. */
async function credentialFor(buying: Buying, authorizationId: string): Promise<string | undefined> {
  const { on, wanted } = buying;
  if ((await payingSignerOf(wanted.mandateId, await offerIn(buying, authorizationId))) !== "testWallet") return undefined;
  return (await on.call(reachable.signSamplePayment, { body: { authorizationId } })).body.paymentCredential;
}

const isServed = (status: number): boolean => status < 400;

const refusedAs = ({ refusal }: Buying): never => {
  throw refusal ?? new Error("The purchase ended without an answer.");
};

async function endOf(buying: Buying, own: Authorization, step: Step<PaymentExecution>): Promise<Reply> {
  const { authorizationId, policyDecision: decision } = own;
  if (step.step === "paidForAnother") return { content: { status: "ended", authorizationId, next: paidForAnother } };
  if (step.step === "wait") return { content: { status: "settling", authorizationId, next: settling } };
  if (step.step !== "ended") return refusedAs(buying);
  const { why, execution } = step;
  if (why === "denied") return { content: { status: "denied", authorizationId, decision, next: denied } };
  if (execution) return paymentEnd(buying, why, execution);
  if (why === "consumed") return refusedAs(buying);
  const status = endedStatus(why);
  return { content: { status, authorizationId, next: ended[status] } };
}

async function paymentEnd({ purchase, reply }: Buying, why: Why, execution: PaymentExecution): Promise<Reply> {
  const { authorizationId, executionId, settlementStatus, failureDetail } = execution;
  const found = { authorizationId, execution };
  if (why === "settling") return { content: { status: "settling", ...found, next: settling } };
  if (why === "failed") {
    // The reserved amount is released, so this purchase cannot be paid any more.
    const detail = failureDetail === undefined ? "" : ` ${failureDetail}`;
    const next = `The payment failed, and the seller was not paid.${detail} To try again, call with a new purchaseId.`;
    return { content: { status: "refused", ...found, next }, isError: true };
  }
  const answer = reply ? sellerAnswerOf(reply) : undefined;
  if (why === "paid" && answer) {
    const content = { status: "paid" as const, authorizationId, execution: { executionId, settlementStatus }, answer };
    await savePurchase(purchase.row, { result: JSON.stringify(content) });
    return { content, ...untrustedIn(answer) };
  }
  const status = why === "paidButNotServed" ? why : "notServed";
  return { content: { status, ...found, ...(answer && { answer }), next: notServed[status] }, isError: true };
}
