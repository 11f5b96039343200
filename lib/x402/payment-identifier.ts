import type { PaymentRequired } from "@x402/core/types";

const NAME = "payment-identifier";

/** The extension with the authorization's id, if the seller's 402 asks for a payment identifier. Otherwise empty. */
export function identifierOf(
  required: PaymentRequired | undefined,
  authorizationId: string,
): Pick<PaymentRequired, "extensions"> {
  const asked: unknown = required?.extensions?.[NAME];
  if (typeof asked !== "object" || asked === null || !("info" in asked)) return {};
  const info = typeof asked.info === "object" ? asked.info : {};
  return { extensions: { [NAME]: { ...asked, info: { ...info, id: authorizationId } } } };
}
