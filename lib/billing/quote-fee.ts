import { audit, clock } from "#lib/audit/transact.ts";
import type { AskedFeeQuote } from "#lib/billing/billing-schema.ts";
import * as contract from "#lib/billing/contract.ts";
import { enforcementPathOf, feeOn, presentFeeQuote } from "#lib/billing/fees.ts";
import { findPayee, loadFeeBasis, saveFeeQuote } from "#lib/billing/store.ts";
import type { Tx } from "#lib/db/client.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { readAmount, type Atomic } from "#lib/money.ts";
import { assetOf, chainOf, onlyChain, type AssetOnChain } from "#lib/chains/chains.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";
import { minutes } from "#lib/time.ts";
import type { Environment, FeePayer } from "#lib/vocabulary.ts";

type Tenant = { readonly organizationId: string; readonly environment: Environment };

/** Without sellerId, sellerOrganizationId must be the caller's own. The chain is read only from the caller's resources. */
async function readPayee(tx: Tx, { organizationId, environment }: Tenant, body: AskedFeeQuote) {
  const { sellerId, resourceId, sellerOrganizationId } = body;
  if (sellerId === undefined) {
    if (resourceId !== undefined) throw invalidField("/sellerId", "Name the seller of the resource too.");
    if (sellerOrganizationId === undefined) return { organizationId: null, chain: null };
    if (sellerOrganizationId !== organizationId) {
      throw new Problem("not_found", {
        detail: "This is not the id of your organization. Name a seller of another organization by sellerId.",
      });
    }
    return { organizationId, chain: null };
  }
  const payee = await findPayee(tx, environment, sellerId, resourceId);
  if (!payee) throw notFound("seller");
  if (sellerOrganizationId !== undefined && sellerOrganizationId !== payee.organizationId) {
    throw invalidField("/sellerOrganizationId", "The seller belongs to another organization.");
  }
  if (payee.organizationId !== organizationId) return { organizationId: payee.organizationId, chain: null };
  if (resourceId !== undefined && !payee.resource) throw notFound("resource");
  return { organizationId, chain: payee.resource?.paymentConfig?.chain ?? null };
}

function readAsset(body: AskedFeeQuote, resourceChain: string | null): AssetOnChain {
  const chain = body.chain ?? resourceChain ?? onlyChain();
  if (chain === null) throw invalidField("/chain", "This installation has several chains; name one.");
  if (!chainOf(chain)) throw new Problem("chain_unsupported", { detail: `This installation does not pay on ${chain}.` });
  const asset = assetOf(chain, body.asset);
  if (!asset) throw new Problem("asset_unsupported", { detail: `This installation does not pay ${body.asset} on ${chain}.` });
  return asset;
}

function readGross(amount: string, { tokenDecimals }: AssetOnChain): Atomic {
  const gross = readAmount(amount, tokenDecimals);
  if (!gross.ok) throw invalidField("/amount", gross.detail);
  if (gross.amount === 0n) throw invalidField("/amount", "A payment is above zero.");
  return gross.amount;
}

function requirePath({ enforcementPath, settlementMode }: AskedFeeQuote): void {
  if (enforcementPath === undefined || enforcementPath === enforcementPathOf({ settlementMode })) return;
  throw invalidField(
    "/enforcementPath",
    `The limits of a payment with settlementMode ${settlementMode} are not enforced ${enforcementPath}. Leave this field out.`,
  );
}

function requirePayer(expected: FeePayer | undefined, actual: FeePayer): void {
  if (expected === undefined || expected === actual) return;
  throw new Problem("fee_payer_mismatch", {
    detail: `The fee of this payment is paid by ${actual}, not by ${expected}. Leave feePayer out or send ${actual}.`,
  });
}

export const quoteFee: Handler<typeof contract.quoteFee> = ({ body }, { caller, idempotency }) =>
  once(contract.quoteFee, idempotency, async (tx) => {
    const { organizationId, subjectId } = caller;
    requirePath(body);
    const payee = await readPayee(tx, caller, body);
    const asset = readAsset(body, payee.chain);
    const gross = readGross(body.amount, asset);
    const basis = await loadFeeBasis(tx, organizationId, payee.organizationId);
    const now = await clock(tx);
    const payment = {
      buyerOrganizationId: organizationId,
      sellerOrganizationId: payee.organizationId,
      settlementMode: body.settlementMode,
      chain: asset.chain,
      asset: asset.asset,
    };
    const priced = feeOn(basis, payment, gross, asset.tokenDecimals, now);
    requirePayer(body.feePayer, priced.schedule.feePayer);
    const feeQuoteId = newId("feeQuote");
    const expiresAt = new Date(now.getTime() + minutes(15));
    const quote = presentFeeQuote({ ...priced, feeQuoteId, createdAt: now, expiresAt, metadata: body.metadata });
    await saveFeeQuote(tx, { feeQuoteId, organizationId, quote, createdAt: now });
    const event = { type: "fee.quoted", actorId: subjectId, organizationId, entityType: "feeQuote", entityId: feeQuoteId };
    const { feeScheduleId, feeScheduleHash, serviceFeeAmount } = quote;
    audit(tx, { ...event, metadata: { feeScheduleId, feeScheduleHash, serviceFeeAmount } }, now);
    return quote;
  });
