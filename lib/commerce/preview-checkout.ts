import { audit, clock } from "#lib/audit/transact.ts";
import { sameTerms } from "#lib/approvals/decision/approval.ts";
import { basketHash, canonicalBasket } from "#lib/approvals/basket.ts";
import type { CheckoutRow, NewCheckout } from "#lib/approvals/checkout-rows.ts";
import { findCandidates } from "#lib/approvals/candidate-store.ts";
import { closeCheckout } from "#lib/approvals/close-checkout.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import { detectMandate, mandateChoices } from "#lib/commerce/mandate-choices.ts";
import { presentCheckout } from "#lib/approvals/present-checkout.ts";
import { countRequests } from "#lib/approvals/request-count-store.ts";
import { requireRoom } from "#lib/approvals/request-limits.ts";
import { insertCheckout, lockOpenTwin, saveDetection } from "#lib/approvals/store.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { once, replay } from "#lib/command/idempotency.ts";
import type { Handler, Input, KeyCaller, SessionCaller } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { REQUEST_MS } from "#lib/mandates/policy/compile-policy.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { wakeNotices } from "#lib/notices/wake.ts";
import { rememberProbed } from "#lib/payments/probe-domain.ts";
import { sellerOfStorefront } from "#lib/storefront/seller-of-storefront.ts";
import { probeCheckout } from "#lib/storefront/probe-checkout.ts";
import { discoverStorefront } from "#lib/storefront/discover-storefront.ts";
import { requestQuote } from "#lib/storefront/request-quote.ts";
import { storefrontInvalid } from "#lib/outbound/storefront-problem.ts";
import { earliest } from "#lib/time.ts";

type Caller = (KeyCaller | SessionCaller) & { readonly organizationId: string };
type Body = Input<typeof contract.previewCheckout>["body"];

/** Asks the storefront outside of any transaction; no amount is reserved. */
export const previewCheckout: Handler<typeof contract.previewCheckout> = async ({ body }, { caller, idempotency, requestId }) => {
  const earlier = idempotency && (await replay(idempotency));
  if (earlier) return earlier;
  const preview = await readPreview(body, caller);
  const reply = await once(contract.previewCheckout, idempotency, async (tx) => {
    const { checkout, now } = await openOrFind(tx, preview, body.expiresInSeconds, requestId);
    const url = `${env().BASE_URL}/checkout/${checkout.checkoutIntentId}`;
    return {
      intent: presentCheckout(checkout, now),
      nextAction: { type: "openBrowser" as const, url, label: "Confirm this purchase" },
    };
  });
  wakeNotices();
  return reply;
};

type Preview = Omit<NewCheckout, "expiresAt" | "createdAt" | "updatedAt"> & {
  readonly quoteExpiresAt: Date;
  /** A new checkout waits at most this many milliseconds for a person's decision, unless a person extends the time. */
  readonly requestMs: number;
};

async function readPreview({ storefrontUrl, items, mandateId, metadata }: Body, caller: Caller): Promise<Preview> {
  const storefront = await discoverStorefront(storefrontUrl);
  const quote = await requestQuote(storefront, items);
  const checkoutIntentId = newId("checkoutIntent");
  const probed = await probeCheckout(storefront, quote, checkoutIntentId);
  const { mismatches, raw, terms } = probed;
  if (mismatches.length > 0) {
    throw storefrontInvalid(`The 402 of ${storefront.domain} differs from its quote.`, { mismatches });
  }
  await rememberProbed(probed);
  const { asset, domain } = storefront;
  const { seller, resource } = await sellerOfStorefront(database(), caller.environment, storefront);
  const basket = canonicalBasket(seller?.sellerId ?? domain, asset, quote.lines);
  const { organizationId, environment, subjectId } = caller;
  const checkout = {
    checkoutIntentId,
    organizationId,
    environment,
    ownerSubjectId: subjectId,
    sellerId: seller?.sellerId ?? null,
    resourceId: resource?.resourceId ?? null,
    domain,
    storefrontUrl,
    canonicalBasket: basket,
    basketHash: basketHash(basket),
    amount: quote.amount,
    asset: asset.asset,
    chain: asset.chain,
    payTo: terms.payTo,
    tokenAddress: asset.tokenAddress,
    tokenDecimals: asset.tokenDecimals,
    quoteId: quote.quoteId,
    quoteExpiresAt: quote.expiresAt,
    challenge: raw as unknown as Record<string, unknown>,
    items,
    // The parsed 402 response has bigint amounts, which JSON cannot contain; `challenge` above stores the response.
    storefront: { ...storefront, challenge: null },
    metadata: metadata ?? null,
    createsFulfillmentOrder: storefront.source === "manifest",
    status: "previewed",
    authorizationId: null,
    orderId: null,
    extendedAt: null,
  };
  const asked = { ...checkout, mandateId: mandateId ?? null, charged: checkout.amount };
  const choices = await mandateChoices(asked, await findCandidates(database(), asked));
  if (mandateId !== undefined && !choices.some((choice) => choice.mandateId === mandateId)) throw notFound("mandate");
  const detected = detectMandate(choices, mandateId ?? null);
  const payer = choices.find((choice) => choice.mandateId === detected.mandateId);
  const requestMs = payer?.requestMs ?? REQUEST_MS;
  return { ...checkout, ...detected, feeQuote: choices[0]?.feeQuote ?? null, requestMs };
}

/** For a mandate and a basket, an organization has at most one open checkout without a reserved amount (lockOpenTwin). */
async function openOrFind(tx: Tx, preview: Preview, expiresInSeconds: number | undefined, requestId: string) {
  const now = await clock(tx);
  if (preview.quoteExpiresAt <= now) {
    throw new Problem("quote_expired", { detail: "The storefront's quote has expired already. Ask again." });
  }
  const open = await lockOpenTwin(tx, preview, preview.mandateId, preview.basketHash);
  const twin = open && (await keepOrClose(tx, open, preview, now));
  if (twin) return { checkout: twin, now };
  requireRoom(await countRequests(tx, preview), now);
  const { requestMs, ...row } = preview;
  const asked = Math.min(requestMs, (expiresInSeconds ?? Infinity) * 1_000);
  const expiresAt = earliest(new Date(now.getTime() + asked), preview.quoteExpiresAt);
  const checkout: CheckoutRow = { ...row, expiresAt, createdAt: now, updatedAt: now };
  if (!(await insertCheckout(tx, checkout))) {
    throw new Problem("idempotency_in_flight", {
      detail: "The same basket is being previewed. Ask again.",
      retryAfterSeconds: 1,
    });
  }
  const { checkoutIntentId, organizationId, ownerSubjectId, mandateId, basketHash } = checkout;
  const happened = { actorId: ownerSubjectId, organizationId, subjectId: ownerSubjectId };
  const entity = { entityType: "checkout", entityId: checkoutIntentId };
  const metadata = { requestId, basketHash, amountAtomic: checkout.amount.toString(), ...(mandateId !== null && { mandateId }) };
  audit(tx, { ...happened, type: "checkout.previewed", ...entity, metadata }, now);
  return { checkout, now };
}

/** Null if it closed `open`, which has expired or has other terms. @throws Problem conflict if it is live and of another agent */
async function keepOrClose(tx: Tx, open: CheckoutRow, preview: Preview, now: Date): Promise<CheckoutRow | null> {
  const over = open.expiresAt <= now;
  if (!over && open.ownerSubjectId !== preview.ownerSubjectId) {
    throw new Problem("conflict", { detail: "Another agent of your organization has an open checkout for this basket." });
  }
  if (!over && sameTerms(open, preview)) return saveDetection(tx, open, preview);
  const metadata = over ? {} : { supersededBy: preview.checkoutIntentId };
  const status = over ? "expired" : "superseded";
  await closeCheckout(
    tx,
    { checkout: open, approval: null },
    { status, actorId: over ? "service" : preview.ownerSubjectId, metadata },
    now,
  );
  return null;
}
