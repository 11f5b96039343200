import { decodePaymentResponseHeader } from "@x402/core/http";
import { z } from "zod";
import { BYTES32 } from "#lib/evm.ts";
import { parseJson } from "#lib/http/json.ts";
import { checkoutBody } from "#lib/storefront/probe-checkout.ts";
import { outbound } from "#lib/outbound/guarded-fetch.ts";
import type { Storefront } from "#lib/storefront/discover-storefront.ts";
import type { OutboundReply } from "#lib/outbound/outbound-request.ts";
import { problemOfRefusal } from "#lib/storefront/refusal.ts";
import { SellerId, SellerText } from "#lib/storefront/seller-text.ts";

const Order = z.object({
  id: SellerId,
  status: SellerText(60).optional().catch(undefined),
  permalinkUrl: z.string().max(2_048).optional().catch(undefined),
});

export type StorefrontOrder = { readonly id: string; readonly status: string | null; readonly permalinkUrl: string | null };

/** What the seller's server reports; only the chain can prove the settlement. */
export type ClaimedSettlement = {
  readonly success: boolean;
  readonly transaction: string | null;
  readonly reason: string | null;
};

/** With every outcome, the signed payment may have reached the server; only the chain shows whether it was settled. */
export type PaidCheckout = {
  readonly outcome: "completed" | "refused" | "unknown";
  readonly status: number | null;
  /** Null unless the outcome is `completed` and the body contains a valid order. */
  readonly order: StorefrontOrder | null;
  readonly settlement: ClaimedSettlement | null;
  /** A sentence; null if the outcome is `completed`. */
  readonly detail: string | null;
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

function jsonOf({ body, headers }: OutboundReply): unknown {
  if (!body || !/json/i.test(headers["content-type"] ?? "")) return undefined;
  try {
    return parseJson(utf8.decode(body));
  } catch {
    return undefined;
  }
}

function permalink(href: string | undefined, { checkoutUrl }: Storefront): string | null {
  const url = href === undefined ? null : URL.parse(href);
  return url?.origin === new URL(checkoutUrl).origin && url.username === "" && url.password === "" ? url.href : null;
}

function orderOf(json: unknown, storefront: Storefront): StorefrontOrder | null {
  const { data } = z.object({ order: Order }).safeParse(json);
  if (!data) return null;
  const { id, status, permalinkUrl } = data.order;
  return { id, status: status ?? null, permalinkUrl: permalink(permalinkUrl, storefront) };
}

function settlementOf(headers: Readonly<Record<string, string>>): ClaimedSettlement | null {
  const header = headers["payment-response"];
  if (header === undefined || header.length > 32_768) return null;
  try {
    const said = decodePaymentResponseHeader(header) as { success?: unknown; transaction?: unknown; errorReason?: unknown };
    const transaction =
      typeof said.transaction === "string" && BYTES32.test(said.transaction) ? said.transaction.toLowerCase() : null;
    const reason = typeof said.errorReason === "string" ? SellerText(128).parse(said.errorReason.slice(0, 512)) : null;
    return { success: said.success === true, transaction, reason };
  } catch {
    return null;
  }
}

/** Sends the signed payment once. @throws Problem storefront_unavailable, storefront_invalid only if nothing was sent */
export async function payCheckout(
  storefront: Storefront,
  order: { readonly quoteId: string; readonly idempotencyKey: string; readonly paymentSignature: string },
): Promise<PaidCheckout> {
  const { checkoutUrl, checkoutMethod: method, domain } = storefront;
  const { paymentSignature, idempotencyKey } = order;
  const reply = await outbound().once(checkoutUrl, {
    method,
    paymentSignature,
    ...(method === "POST" && { json: checkoutBody(order, idempotencyKey) }),
  });
  const nothing = { status: null, order: null, settlement: null, detail: `${domain} took the payment and did not answer.` };
  if (!reply) return { outcome: "unknown", ...nothing };
  const { status } = reply;
  const settlement = settlementOf(reply.headers);
  const json = jsonOf(reply);
  if (status >= 200 && status < 300)
    return { outcome: "completed", status, order: orderOf(json, storefront), settlement, detail: null };
  if (status >= 400 && status < 500) {
    const detail =
      status === 402 ? `${domain} did not accept the payment.` : problemOfRefusal(domain, status, json).details.detail;
    return { outcome: "refused", status, order: null, settlement, detail };
  }
  return { outcome: "unknown", ...nothing, status, settlement, detail: `${domain} answered ${status} after it was paid.` };
}
