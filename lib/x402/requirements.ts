import { encodePaymentRequiredHeader } from "@x402/core/http";
import type { Network, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import type { Address } from "viem";
import { getAddress } from "viem/utils";
import type { AssetOnChain } from "#lib/chains/chains.ts";

/** The payment that a signed payment must make. Nothing in it comes from the signed payment. */
export type ExpectedPayment = {
  readonly asset: AssetOnChain;
  readonly amount: bigint;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  /** The seller's own 402 and the authorized offer in it. A standard server refuses a payment that accepts another offer. */
  readonly offer?: { readonly required: PaymentRequired; readonly accepted: PaymentRequirements } | undefined;
};

/** The one requirement that a signed payment must meet. Addresses are written with their checksum. */
export const requirementsOf = ({ asset, amount, payTo, maxTimeoutSeconds }: ExpectedPayment): PaymentRequirements => ({
  scheme: "exact",
  network: asset.chain as Network,
  amount: amount.toString(),
  asset: getAddress(asset.tokenAddress),
  payTo: getAddress(payTo),
  maxTimeoutSeconds,
  extra: { name: asset.tokenName, version: asset.tokenVersion },
});

const paymentRequiredHeader = "PAYMENT-REQUIRED";
export const paymentSignatureHeader = "PAYMENT-SIGNATURE";
export const paymentResponseHeader = "PAYMENT-RESPONSE";
export const paymentHeaderV1 = "X-PAYMENT";
export const paymentResponseHeaderV1 = "X-PAYMENT-RESPONSE";

/** The headers of a 402 that asks for this payment: with the seller's own offer, or else with an offer for `url`. */
export function paymentRequiredHeaders(payment: ExpectedPayment, url: string): Record<string, string> {
  const { offer } = payment;
  const required: PaymentRequired = offer
    ? { ...offer.required, accepts: [offer.accepted] }
    : { x402Version: 2, resource: { url }, accepts: [requirementsOf(payment)] };
  return { [paymentRequiredHeader]: encodePaymentRequiredHeader(required) };
}
