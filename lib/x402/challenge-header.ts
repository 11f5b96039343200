import { encodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { parseJson } from "#lib/http/json.ts";
import { readChallenge } from "#lib/x402/compare-challenge.ts";
import type { GuardedReply } from "#lib/outbound/guarded-fetch.ts";
import { storefrontInvalid } from "#lib/outbound/storefront-problem.ts";

const BASE64 = /^[A-Za-z0-9+/_-]{4,32768}={0,2}$/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(header: string): PaymentRequired | null {
  if (!BASE64.test(header)) return null;
  try {
    return readChallenge(parseJson(utf8.decode(Buffer.from(header, "base64"))));
  } catch {
    return null;
  }
}

/** The payment challenge in a 402 reply. @throws Problem storefront_invalid */
export function challengeOf({ headers, url }: Pick<GuardedReply, "headers" | "url">): PaymentRequired {
  const { host } = new URL(url);
  const header = headers["payment-required"];
  if (header === undefined) throw storefrontInvalid(`${host} asks for payment, but not by x402 version 2.`);
  const required = decode(header);
  if (!required) throw storefrontInvalid(`${host} asks for payment with a PAYMENT-REQUIRED header that cannot be read.`);
  return required;
}

/** Contains only the offer that was compared with the expected payment, so that the agent's client cannot choose another. */
export const headersOfChallenge = (required: PaymentRequired, accepted: PaymentRequirements): Record<string, string> => ({
  "PAYMENT-REQUIRED": encodePaymentRequiredHeader({ ...required, accepts: [accepted] }),
});
