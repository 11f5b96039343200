import type { Address } from "viem";
import { feeOn } from "#lib/billing/fees.ts";
import { loadFeeBasis } from "#lib/billing/store.ts";
import type * as contract from "#lib/commerce/readiness-contract.ts";
import { modeChecks } from "#lib/commerce/readiness/readiness-onchain.ts";
import { seeStorefront, type StorefrontFindings } from "#lib/commerce/readiness/readiness-storefront.ts";
import type { CheckReadiness, ReadinessScope } from "#lib/commerce/readiness/readiness-schema.ts";
import {
  failing,
  overallStatus,
  policyChecks,
  presentChecks,
  ready,
  requiredActions,
  skipped,
  unknown,
  type Check,
} from "#lib/commerce/readiness/readiness.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { probeService } from "#lib/health/probes.ts";
import type { Caller, Handler } from "#lib/http/operation.ts";
import { withMandatePages } from "#lib/mandates/mandate-links.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { findMandate, reading } from "#lib/mandates/store.ts";
import { displayAmount, formatAmount, readAmount, type Atomic } from "#lib/money.ts";
import { assetOf, chainOf, onlyChain, type AssetOnChain } from "#lib/chains/chains.ts";
import { balanceOf } from "#lib/onchain/token.ts";
import type { NamedIntent } from "#lib/payment-intent.ts";
import { simulatePayment } from "#lib/payments/simulate-payment.ts";
import { invalidField, Problem } from "#lib/problem.ts";
import { sellerOfStorefront, type StorefrontSeller } from "#lib/storefront/seller-of-storefront.ts";
import { compareToken } from "#lib/storefront/read-manifest.ts";
import { minutes, toWire } from "#lib/time.ts";
import { requirementsOf } from "#lib/x402/requirements.ts";
import { commonActions } from "#lib/next-actions.ts";

const { selectMandate, createMandate, otherSeller, retryLater } = commonActions;

type Asker = Caller & { readonly organizationId: string };
type Terms = { readonly asset: AssetOnChain; readonly amount: Atomic | null };

/**
 * The token fields are only compared with the configuration, because a client could name a worthless token.
 * @throws Problem invalid_request, chain_unsupported, asset_unsupported
 */
function namedAsset(body: CheckReadiness): AssetOnChain | null {
  const chain = body.chain ?? onlyChain();
  if (body.chain !== undefined && !chainOf(body.chain))
    throw new Problem("chain_unsupported", { detail: `This installation does not pay on ${body.chain}.` });
  if (chain === null || body.asset === undefined) return null;
  const asset = assetOf(chain, body.asset);
  if (!asset) throw new Problem("asset_unsupported", { detail: `This installation does not pay ${body.asset} on ${chain}.` });
  const errors = compareToken(body, asset);
  if (errors.length > 0) throw new Problem("invalid_request", { detail: "The token differs from the configured one.", errors });
  return asset;
}

/** Null if the asset is unknown; `amount` is null if nothing was quoted or named. @throws Problem invalid_request */
function termsOf(
  body: CheckReadiness,
  seen: StorefrontFindings,
  mandate: MandateRow | null,
  named: AssetOnChain | null,
): Terms | null {
  const own = mandate && assetOf(mandate.chain, mandate.asset);
  const asset = seen.discovered?.asset ?? named ?? own;
  if (!asset) return null;
  if (seen.quote) return { asset, amount: seen.quote.amount };
  if (body.amount === undefined) return { asset, amount: null };
  const amount = readAmount(body.amount, asset.tokenDecimals);
  if (!amount.ok) throw invalidField("/amount", amount.detail);
  if (amount.amount === 0n) throw invalidField("/amount", "A payment is above zero.");
  return { asset, amount: amount.amount };
}

async function serviceCheck(): Promise<Check> {
  const findings = await probeService();
  // Agents do not need the web pages, and people can approve later.
  const needed = findings.filter(({ name }) => name !== "pages");
  const down = needed.filter(({ status }) => status !== "ready").map(({ name }) => name);
  if (down.length === 0) return ready("serviceAvailable", "The service works.");
  const details = { detail: `The service is not ready: ${down.join(", ")}.`, nextActions: [retryLater] };
  return failing("serviceAvailable", new Problem("service_unavailable", details));
}

function mandateCheck(mandate: MandateRow | null): Check {
  if (mandate) return ready("mandateExists", "The mandate exists.");
  const nextActions = withMandatePages([selectMandate, createMandate], env().BASE_URL);
  return failing("mandateExists", new Problem("not_found", { detail: "There is no such mandate.", nextActions }));
}

/** If the amount is unknown, the intent has the smallest amount, and the result about limits is not reported. */
function intentOf(
  seen: StorefrontFindings,
  known: StorefrontSeller,
  { asset, amount }: Terms,
  body: CheckReadiness,
  { requestId, now }: { readonly requestId: string; readonly now: Date },
): NamedIntent {
  const { discovered, probed } = seen;
  const { seller, resource } = known;
  const price = amount ?? (1n as Atomic);
  const payTo = discovered?.payTo ?? `0x${"1".repeat(40)}`;
  const url = discovered?.checkoutUrl ?? body.storefrontUrl;
  // If the 402 response differs from the quote, another check reports it, and the policy is simulated with the quote.
  const asked = probed?.mismatches.length === 0 ? probed.accepted : null;
  const accepted = asked ?? requirementsOf({ asset, amount: price, payTo, maxTimeoutSeconds: 60 });
  const domain = discovered?.domain ?? new URL(body.storefrontUrl).host;
  return {
    intentId: `readiness-${requestId}`,
    nonce: `readiness-${requestId}`,
    enforcementPath: "offchain",
    paymentChallengeType: "x402",
    seller: seller ? { sellerId: seller.sellerId, domain } : { domain },
    ...(seller && resource && { resource: { resourceId: resource.resourceId, sellerId: seller.sellerId } }),
    ...(!seller && { challenge: { x402Version: 2, resource: { url }, accepts: [accepted] } }),
    amount: formatAmount(price, asset.tokenDecimals),
    asset: asset.asset,
    chain: asset.chain,
    payTo,
    expiresAt: toWire(new Date(now.getTime() + minutes(5))),
  };
}

function sellerChecks(
  { discovered }: StorefrontFindings,
  { seller, resource }: StorefrontSeller,
  mandate: MandateRow | null,
  body: CheckReadiness,
): Check[] {
  if (!discovered) return [];
  const { policy } = mandate ?? {};
  const checks: Check[] = [];
  if (body.sellerId !== undefined && body.sellerId !== seller?.sellerId) {
    const detail = `${discovered.domain} is not the storefront of ${body.sellerId}.`;
    checks.push(failing("sellerRegistered", new Problem("storefront_invalid", { detail, nextActions: [otherSeller] })));
  } else if (seller) checks.push(ready("sellerRegistered", `${discovered.domain} belongs to a registered seller.`));
  else if (policy?.sellers?.unregistered === "allow")
    checks.push(ready("sellerRegistered", "The seller is not registered, and the mandate admits that."));
  else checks.push(skipped("sellerRegistered", "The seller is not registered."));
  checks.push(
    seller?.verified
      ? ready("sellerVerified", `The seller has proven that ${discovered.domain} is its own.`)
      : skipped("sellerVerified", "The seller has not proven its domain."),
  );
  if (seller)
    checks.push(
      resource
        ? ready("resourceRegistered", "What is sold is registered.")
        : skipped("resourceRegistered", "The storefront names no registered resource."),
    );
  return checks;
}

async function walletChecks(mandate: MandateRow, terms: Terms): Promise<Check[]> {
  const { walletAddress, walletChain } = mandate;
  const { asset, amount } = terms;
  if (walletAddress === null || walletChain !== asset.chain) {
    const told =
      walletAddress === null
        ? "The mandate names no wallet: the agent's own pays."
        : `The mandate's wallet is on ${walletChain}.`;
    return [skipped("walletConnected", told), skipped("walletBalance", told)];
  }
  const connected = ready("walletConnected", `The mandate pays from ${walletAddress}.`);
  try {
    const balance = await balanceOf(asset.chain, asset.tokenAddress, walletAddress as Address);
    const shown = displayAmount(balance, asset.tokenDecimals, asset.asset);
    if (balance >= (amount ?? 1n)) return [connected, ready("walletBalance", `The wallet holds ${shown}.`)];
    const missing = formatAmount((amount ?? 1n) - balance, asset.tokenDecimals);
    const detail = `The wallet holds ${shown}, which is not enough.`;
    const fund = { address: walletAddress, chain: asset.chain, asset: asset.asset, amount: missing };
    const nextActions = [{ type: "fund_wallet", label: "Fund the wallet", ...fund }] as const;
    const payment = {
      chain: asset.chain,
      asset: asset.asset,
      balance: formatAmount(balance, asset.tokenDecimals),
      balanceAtomic: balance.toString(),
      payer: walletAddress,
    };
    return [
      connected,
      failing("walletBalance", new Problem("insufficient_funds", { detail, nextActions, payment }), "actionRequired"),
    ];
  } catch {
    return [connected, unknown("walletBalance", `${asset.chain} does not answer.`, retryLater)];
  }
}

async function feeCheck(caller: Asker, { seller, resource }: StorefrontSeller, { asset, amount }: Terms): Promise<Check> {
  if (amount === null) return skipped("feeQuote", "No amount was named, and nothing was quoted.");
  const fee = await reading(async (tx, now) => {
    const basis = await loadFeeBasis(tx, caller.organizationId, seller?.organizationId ?? null);
    const payment = {
      buyerOrganizationId: caller.organizationId,
      sellerOrganizationId: seller?.organizationId ?? null,
      settlementMode: resource?.paymentConfig?.settlementMode ?? ("offchainAuthorized" as const),
      chain: asset.chain,
      asset: asset.asset,
    };
    return feeOn(basis, payment, amount, asset.tokenDecimals, now);
  });
  const shown = displayAmount(fee.fee.serviceFee, asset.tokenDecimals, asset.asset);
  return ready("feeQuote", `The service charges ${shown}, paid by the ${fee.schedule.feePayer}.`);
}

async function policyOf(caller: Asker, mandate: MandateRow, intent: NamedIntent, requestId: string) {
  const { organizationId, environment, kind, subjectId } = caller;
  // A mandate with a list of agents denies every person. So if a person asks, the check runs as the first agent of the list.
  const [agent] = kind === "session" ? (mandate.agents ?? []) : [];
  const asker = agent === undefined ? { kind, subjectId } : { kind: "key" as const, subjectId: agent };
  return simulatePayment({ organizationId, environment, asker, mandateId: mandate.mandateId, intent, requestId });
}

function scopeOf(
  body: CheckReadiness,
  seen: StorefrontFindings,
  { seller, resource }: StorefrontSeller,
  terms: Terms | null,
  now: Date,
): ReadinessScope {
  const { expiresInSeconds, metadata, ...asked } = body;
  const expiresAt = toWire(new Date(now.getTime() + expiresInSeconds * 1_000));
  return {
    ...(seller && { sellerId: seller.sellerId }),
    ...(resource && { resourceId: resource.resourceId }),
    ...(seen.discovered && { payTo: seen.discovered.payTo }),
    ...(terms && { chain: terms.asset.chain, asset: terms.asset.asset }),
    ...(terms?.amount && { amount: formatAmount(terms.amount, terms.asset.tokenDecimals) }),
    ...asked,
    metadata: { ...metadata, expiresInSeconds, expiresAt },
  };
}

const nobody: StorefrontSeller = { seller: null, resource: null };

export const checkReadiness: Handler<typeof contract.checkReadiness> = async ({ body }, { caller, requestId }) => {
  const named = namedAsset(body);
  const [service, { mandate, now }, seen] = await Promise.all([
    serviceCheck(),
    reading(async (tx, now) => ({ now, mandate: await findMandate(tx, caller, body.mandateId) })),
    seeStorefront(body, requestId),
  ]);
  const terms = termsOf(body, seen, mandate, named);
  const known = seen.discovered ? await sellerOfStorefront(database(), caller.environment, seen.discovered) : nobody;
  const judge = async (mandate: MandateRow, terms: Terms): Promise<Check[]> => {
    const decision = await policyOf(caller, mandate, intentOf(seen, known, terms, body, { requestId, now }), requestId);
    const { mandateId } = mandate;
    const pages = { baseUrl: env().BASE_URL, mandateId };
    return policyChecks({ decision, sellerKnown: seen.discovered !== null, amountKnown: terms.amount !== null, pages });
  };
  const later = await Promise.all([
    mandate && terms ? judge(mandate, terms) : [],
    mandate && terms ? walletChecks(mandate, terms) : [],
    terms ? feeCheck(caller, known, terms).then((found) => [found]) : [],
    modeChecks({
      mode: body.paymentMode,
      mandate,
      asset: terms?.asset,
      amount: terms?.amount,
      payTo: seen.discovered?.payTo,
      now,
    }),
  ]);
  const found = [service, mandateCheck(mandate), ...seen.found, ...sellerChecks(seen, known, mandate, body), ...later.flat()];
  const checks = presentChecks(found, requestId);
  return {
    status: overallStatus(checks),
    mandateId: body.mandateId,
    scope: scopeOf(body, seen, known, terms, now),
    checks,
    requiredActions: requiredActions(checks),
  };
};
