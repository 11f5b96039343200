import type * as commerce from "#lib/commerce/checkout-contract.ts";
import { CHECKOUT_PATH } from "#lib/approvals/poll-checkout.ts";
import { atAddress, call, ProblemError } from "#lib/http/client.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import type * as payments from "#lib/payments/contract.ts";
import type * as sandbox from "#lib/sandbox/contract.ts";
import type { PaymentExecution } from "#lib/payments/payment-schema.ts";
import type { Sample } from "#lib/sandbox/samples.ts";
import { follow, paying, type Transport } from "#purchase/follow.ts";
import { decisionOf, noFacts, questionIn, type Step, type Why } from "#purchase/step.ts";
import { keepSample, takeSample, type OpenSample } from "./open-sample.ts";

/* The browser acts as the agent: it asks the seller for the price, gets authorization, and sends the signed payment. */

const post = { method: "POST" } as const;
const authorizePayment = atAddress<typeof payments.authorizePayment>({
  ...post,
  id: "authorizePayment",
  path: "/api/v1/payments/authorize",
});
const executePayment = atAddress<typeof payments.executePayment>({
  ...post,
  id: "executePayment",
  path: "/api/v1/payments/execute",
});
const signSamplePayment = atAddress<typeof sandbox.signSamplePayment>({
  ...post,
  id: "signSamplePayment",
  path: "/api/v1/sandbox/credentials",
});
const getPayment = atAddress<typeof payments.getPayment>({
  id: "getPayment",
  method: "GET",
  path: "/api/v1/payments/{authorizationId}",
});
const getCheckout = atAddress<typeof commerce.getCheckout>({ id: "getCheckout", method: "GET", path: CHECKOUT_PATH });

const EXPIRES_MS = 1_800_000;
const SETTLE_LIMIT_MS = 90_000;
const POLL_MS = 500;
const WAIT_SECONDS = "20";

/** `approval` happens only if the mandate asks a person. */
export type StageId = "price" | "decision" | "approval" | "signature" | "delivery" | "settlement";

export type SampleRun = {
  /** The step that runs now or ran last. */
  readonly at: StageId;
  readonly state: "running" | "stopped" | "settled";
  /** Why the payment stopped. If it was denied, this is absent, because `authorization` contains the reasons. */
  readonly why?: string;
  readonly authorization?: Authorization;
  readonly checkoutIntentId?: string;
  readonly settlementReference?: string;
};

type Tools = { readonly tell: (run: SampleRun) => void; readonly signal: AbortSignal };
type Asked = { readonly sample: Sample; readonly mandateId: string; readonly asset: string };
type Challenge = {
  readonly accepts: readonly { readonly network: string; readonly payTo: string }[];
} & Readonly<Record<string, unknown>>;

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

const decoded = (header: string): Challenge =>
  JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (one) => one.charCodeAt(0)))) as Challenge;

const askSeller = ({ path }: Sample, { signal }: Tools, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(path, { headers, signal, cache: "no-store" });

async function challengeOf(sample: Sample, tools: Tools): Promise<Challenge> {
  const unpaid = await askSeller(sample, tools);
  const header = unpaid.headers.get("payment-required");
  if (unpaid.status !== 402 || header === null) throw new Error(`The sample seller answered ${unpaid.status}.`);
  return decoded(header);
}

async function decide({ sample, mandateId, asset }: Asked, challenge: Challenge, { signal }: Tools): Promise<Authorization> {
  const [offer] = challenge.accepts;
  const name = `sample-${crypto.randomUUID()}`;
  const intent = {
    intentId: name,
    nonce: name,
    idempotencyKey: name,
    seller: {},
    amount: sample.amount,
    asset,
    chain: offer?.network ?? "",
    payTo: offer?.payTo ?? "",
    challenge,
    expiresAt: new Date(Date.now() + EXPIRES_MS).toISOString(),
    metadata: { purpose: `${sample.title}, as a sample from the first steps` },
  };
  return call(authorizePayment, { body: { mandateId, intent } }, { signal });
}

const FAILED = "The payment failed, so nothing was paid. Its page says why.";
const LATER = "It is not settled yet. Its page follows it to the end.";

type Settlement = { readonly settlementReference: string } | { readonly why: string };

/** Returns the hash of the transaction, which is empty if the service does not know it, or why the payment is not settled. */
async function untilSettled(authorizationId: string, { signal }: Tools): Promise<Settlement> {
  for (const limit = Date.now() + SETTLE_LIMIT_MS; Date.now() < limit; await pause(POLL_MS)) {
    const [execution] = (await call(getPayment, { authorizationId }, { signal })).executions;
    if (execution?.settlementStatus === "settled") return { settlementReference: execution.settlementReference ?? "" };
    if (execution?.settlementStatus === "failed") return { why: FAILED };
  }
  return { why: LATER };
}

const ended: Partial<Readonly<Record<Why, string>>> = {
  nobodyAsked: "Decide in the list of approvals.",
  declined: "The payment was declined, so nothing was paid.",
  expired: "Nobody decided in time. Ask again.",
  canceled: "The request ended, so nothing was paid. Ask again.",
  failed: FAILED,
};

function whyAt(step: Step): string {
  if (step.step === "paidForAnother")
    return "The approval paid for another purchase, so nothing was paid for this one. Ask again.";
  return (step.step === "ended" && ended[step.why]) || LATER;
}

/** The steps about a person. `lost` is called if another tab goes on. */
function personSteps(open: OpenSample, signal: AbortSignal, lost: () => void): Transport<PaymentExecution> {
  let isKept = false;
  return {
    ask: (_, facts) => Promise.resolve({ ...facts, isAsked: true }),
    async person({ question: { checkoutIntentId } }, facts) {
      if (!facts.isAsked) isKept = keepSample(open);
      const query = facts.isAsked ? { waitSeconds: WAIT_SECONDS } : {};
      const { status } = (await call(getCheckout, { checkoutIntentId, query }, { signal })).intent;
      const isDecided = decisionOf(status) !== null;
      if (isDecided && isKept && !takeSample()) return (lost(), null);
      if (!isDecided && facts.isAsked) await pause(POLL_MS);
      return { ...facts, question: status };
    },
  };
}

/** @throws Error if a request fails or has an unexpected answer */
export async function paySample(asked: Asked, tools: Tools): Promise<void> {
  const { sample, mandateId } = asked;
  tools.tell({ at: "price", state: "running" });
  const challenge = await challengeOf(sample, tools);
  tools.tell({ at: "decision", state: "running" });
  await resumeSample({ sample, mandateId, authorization: await decide(asked, challenge, tools) }, tools);
}

/** Goes on after the decision of the service. @throws Error like paySample */
export async function resumeSample(open: OpenSample, tools: Tools): Promise<void> {
  const { sample, authorization } = open;
  const { tell, signal } = tools;
  const question = questionIn(authorization);
  // An earlier test payment may have asked the same question: then the approval pays that one.
  const authorizationId = question?.authorizationId ?? authorization.authorizationId;
  const asked = question && { checkoutIntentId: question.checkoutIntentId };
  const known = { authorization: { ...authorization, authorizationId }, ...asked };
  if (authorization.policyDecision.outcome === "requireApproval") tell({ ...known, at: "approval", state: "running" });
  let why: string | undefined;
  let at: StageId = "approval";
  let refusal: ProblemError | undefined;
  const lost = (): void => void (why = "This payment goes on in another tab.");
  const steps = paying<PaymentExecution>({
    executionsOf: async (id) => (await call(getPayment, { authorizationId: id }, { signal })).executions,
    async sign(id) {
      tell({ ...known, at: (at = "signature"), state: "running" });
      return (await call(signSamplePayment, { body: { authorizationId: id } }, { signal })).paymentCredential;
    },
    execute: (body) => call(executePayment, { body }, { signal }),
    refusalOf: (error) => (error instanceof ProblemError ? (refusal = error).problem : null),
  });
  const { step } = await follow({ ...noFacts, authorization }, { ...personSteps(open, signal, lost), ...steps });
  if (step.step === "ended" && step.why === "denied") return tell({ ...known, at: "decision", state: "stopped" });
  if (step.step === "execute" || (step.step === "ended" && step.why === "consumed")) throw refusal;
  if (step.step !== "show") return tell({ ...known, at, state: "stopped", why: why ?? whyAt(step) });
  tell({ ...known, at: "delivery", state: "running" });
  const paid = await askSeller(sample, tools, step.execution.credentialHeaders);
  if (!paid.ok) return tell({ ...known, at: "delivery", state: "stopped", why: `The sample seller answered ${paid.status}.` });
  tell({ ...known, at: "settlement", state: "running" });
  const settlement = await untilSettled(authorizationId, tools);
  tell({ ...known, at: "settlement", state: "why" in settlement ? "stopped" : "settled", ...settlement });
}
