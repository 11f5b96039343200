import { domainToUnicode } from "node:url";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type { PayeeView } from "#lib/approvals/checkout-view.ts";
import { findSellerRecord } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { reading } from "#lib/mandates/store.ts";
import { selectPaid } from "#lib/mandates/paid-store.ts";
import { countDeclined, countPaid, countRefused, paidName } from "#lib/pages/buyer/approvals/payee-store.ts";
import { isUnitChain } from "#lib/money.ts";
import { looksLike } from "#lib/payments/refusals/look-alike.ts";
import { toWire } from "#lib/time.ts";
import { visible } from "#lib/visible-text.ts";

function domainsOf(domain: string): Pick<PayeeView, "domain" | "unicodeDomain"> {
  const [host = "", port] = domain.split(":");
  const unicode = domainToUnicode(host) + (port === undefined ? "" : `:${port}`);
  return { domain, ...(unicode !== domain && unicode !== "" && { unicodeDomain: unicode }) };
}

/**
 * The name comes from the seller's record. Only if a payment is made elsewhere, and to nobody who is registered, the agent's name for the
 * payee stands where the domain is.
 */
export async function viewPayee(checkout: CheckoutRow): Promise<PayeeView> {
  const { domain, sellerId } = checkout;
  const seller = sellerId === null ? null : await findSellerRecord(database(), sellerId);
  return {
    ...(isUnitChain(checkout.chain) && seller === null ? { domain: visible(domain) } : domainsOf(domain)),
    registered: seller !== null,
    verified: seller !== null && seller.verified && seller.domain === domain,
    ...(seller && { name: seller.name }),
    ...(await known(checkout)),
  };
}

const known = (checkout: CheckoutRow): Promise<Pick<PayeeView, "history" | "looksLike">> =>
  reading(async (tx) => {
    const everPaid = await selectPaid(tx, checkout);
    const own = everPaid.find(({ name }) => name === paidName(checkout));
    const { paid, all } = own ? await countPaid(tx, checkout, checkout) : { paid: 0, all: true };
    // If the organization paid this payee first, this payee does not imitate the similar one.
    const other = everPaid.find(({ domain, since }) => looksLike(checkout.domain, domain) && !(own && own.since <= since));
    return {
      history: {
        paid,
        all,
        ...(own && { since: toWire(own.since) }),
        declined: await countDeclined(tx, checkout, checkout),
        refused: await countRefused(tx, checkout, checkout),
      },
      ...(other && { looksLike: other.domain }),
    };
  });
