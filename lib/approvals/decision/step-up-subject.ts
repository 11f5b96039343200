import { checkoutChanged, requireOpen, requireReviewed } from "#lib/approvals/decision/approval.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { findReview } from "#lib/approvals/decision/step-up-store.ts";
import { findCheckout } from "#lib/approvals/store.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import type { Act as ActSchema, Together as TogetherSchema } from "#lib/identity/passkeys/contract.ts";
import { actParts, checkoutParts, togetherParts } from "#lib/identity/passkeys/passkey-challenge.ts";
import { readAmount } from "#lib/money.ts";
import { invalidField, isProblem, notFound } from "#lib/problem.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";
import type { z } from "zod";

type Asked = {
  readonly checkoutIntentId?: string | undefined;
  readonly together?: z.output<typeof TogetherSchema> | undefined;
  readonly act?: z.output<typeof ActSchema> | undefined;
};

/** What a person proves their identity for. `parts` are what a passkey signs. */
export type StepUpSubject = {
  readonly parts: readonly string[];
  readonly checkouts: readonly CheckoutRow[];
  readonly act: z.output<typeof ActSchema> | null;
};

/** Null if the request names nothing. @throws Problem not_found, invalid_request, and those of requireOpen and requireReviewed */
export async function subjectOf(
  db: Database | Tx,
  asked: Asked,
  caller: SessionCaller,
  now: Date,
): Promise<StepUpSubject | null> {
  const { checkoutIntentId, together, act } = asked;
  if (act) return { parts: actParts(act), checkouts: [], act };
  if (together) return listed(db, together, caller, now);
  if (checkoutIntentId === undefined) return null;
  const checkout = await openCheckout(db, checkoutIntentId, caller, now);
  return { parts: checkoutParts(checkout), checkouts: [checkout], act: null };
}

async function openCheckout(db: Database | Tx, checkoutIntentId: string, caller: SessionCaller, now: Date): Promise<CheckoutRow> {
  const { organizationId, environment } = caller;
  const checkout = organizationId === null ? null : await findCheckout(db, { organizationId, environment }, checkoutIntentId);
  if (!checkout) throw notFound("checkout");
  requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, now);
  return checkout;
}

/** Refuses like `check`, and says which request of the list it is about. */
async function numbered<T>(at: number, count: number, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!isProblem(error)) throw error;
    throw Object.assign(error, {
      details: { ...error.details, detail: `Request ${at + 1} of ${count}: ${error.details.detail}` },
    });
  }
}

/** The proof is for exactly this list, its terms and its sum, all as this session was shown them. */
async function listed(
  db: Database | Tx,
  { checkoutIntentIds, amount }: NonNullable<Asked["together"]>,
  caller: SessionCaller,
  now: Date,
) {
  const checkouts: CheckoutRow[] = [];
  for (const [at, id] of checkoutIntentIds.entries()) {
    const shown = async () => {
      const checkout = await openCheckout(db, id, caller, now);
      requireReviewed(await findReview(db, caller.sessionId, id), checkout, now);
      return checkout;
    };
    checkouts.push(await numbered(at, checkoutIntentIds.length, shown));
  }
  const [{ asset, chain, tokenDecimals }] = checkouts as [CheckoutRow];
  const other = checkouts.findIndex((one) => one.asset !== asset || one.chain !== chain || one.tokenDecimals !== tokenDecimals);
  if (other >= 0) {
    throw invalidField(
      `/together/checkoutIntentIds/${other}`,
      "This request pays another asset or on another chain. Requests are approved together if they pay the same asset on one chain.",
    );
  }
  const shown = readAmount(amount, tokenDecimals);
  if (!shown.ok) throw invalidField("/together/amount", shown.detail);
  const sum = checkouts.reduce((total, one) => total + one.amount, 0n);
  if (shown.amount !== sum) throw checkoutChanged();
  return { parts: togetherParts(checkouts, sum), checkouts, act: null };
}
