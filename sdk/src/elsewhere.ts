import { notApproved, personSteps } from "./approval.ts";
import { keyOf, type Context } from "./context.ts";
import { PaymentDenied } from "./errors.ts";
import type { AskedIntent, RecordedPart, RecordedPayment, RecordPayment } from "./operations.ts";
import { follow } from "./purchase/follow.ts";
import { noFacts, questionIn } from "./purchase/step.ts";

/** A payment that you make by other means, such as an invoice that is paid by transfer. */
export type Elsewhere = Required<Pick<AskedIntent, "amount" | "asset" | "seller" | "reference">> &
  Pick<AskedIntent, "payee"> & {
    /** What the payment is for, up to 140 characters, for a person who is asked. */
    readonly purpose?: string;
    /** The name of this payment. A call with the same name is the same payment. */
    readonly operation?: string;
    readonly signal?: AbortSignal;
  };

/** A payment that may be made. On a repeat, `paid` is what was recorded so far. */
export type AuthorizedElsewhere = RecordedPayment & { readonly authorizationId: string };

export type Part = Omit<RecordPayment, "idempotencyKey"> & {
  readonly authorizationId: string;
  /** The name of this part. A call with the same name is the same part; without a name every call is a part of its own. */
  readonly operation?: string;
  readonly signal?: AbortSignal;
};

/**
 * Holds the amount of a payment that you make elsewhere, and waits for a person if one must approve. Pay only after it returns.
 * @throws PaymentDenied, and the errors of personSteps and notApproved
 */
export async function authorizeElsewhere(
  context: Context,
  { operation, purpose, signal, ...payment }: Elsewhere,
): Promise<AuthorizedElsewhere> {
  const { service, mandateId, expiresInSeconds } = context;
  const intent: AskedIntent = {
    ...payment,
    paymentChallengeType: "record",
    chain: `iso4217:${payment.asset}`,
    idempotencyKey: await keyOf(operation),
    ...(purpose !== undefined && { metadata: { purpose } }),
    expiresAt: new Date(Date.now() + expiresInSeconds * 1_000).toISOString(),
  };
  const { body: authorization } = await service.call("authorizePayment", { body: { mandateId, intent } }, { signal });
  const { step, facts } = await follow({ ...noFacts, authorization, executions: [] }, personSteps(context, signal));
  if (step.step === "ended")
    throw step.why === "denied" ? new PaymentDenied(authorization, service.origin) : notApproved(step.why, facts);
  const { authorizationId } = questionIn(authorization) ?? authorization;
  const { recorded } = await service.api.getPayment({ authorizationId }, { signal });
  return { ...recorded!, authorizationId };
}

/** Records a part of what was paid. */
export async function recordPart(
  { service }: Context,
  { operation, authorizationId, signal, ...part }: Part,
): Promise<RecordedPart> {
  const body = { ...part, idempotencyKey: await keyOf(operation) };
  return (await service.call("recordPayment", { authorizationId, body }, { signal })).body;
}
