import { encodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { readChallenge } from "#lib/x402/compare-challenge.ts";
import { readBase64Json } from "#lib/x402/credential.ts";
import type { GuardedReply } from "#lib/outbound/guarded-fetch.ts";
import { storefrontInvalid } from "#lib/outbound/storefront-problem.ts";

const BASE64 = /^[A-Za-z0-9+/_-]{4,32768}={0,2}$/;

/** The payment challenge in a 402 reply. @throws Problem storefront_invalid */
export function challengeOf({ headers, url }: Pick<GuardedReply, "headers" | "url">): PaymentRequired {
  const { host } = new URL(url);
  const header = headers["payment-required"];
  if (header === undefined) throw storefrontInvalid(`${host} asks for payment, but not by x402 version 2.`);
  const required = BASE64.test(header) ? readChallenge(readBase64Json(header)) : null;
  if (!required) throw storefrontInvalid(`${host} asks for payment with a PAYMENT-REQUIRED header that cannot be read.`);
  return required;
}

/** Contains only the accepted offer, so that the agent's client cannot choose another. */
export const headersOfChallenge = (required: PaymentRequired, accepted: PaymentRequirements): Record<string, string> => ({
  "PAYMENT-REQUIRED": encodePaymentRequiredHeader({ ...required, accepts: [accepted] }),
});
