import type { PaymentRequired } from "@x402/core/types";

const NAME = "payment-identifier";

/**
 * The extensions of a payment for a seller whose 402 response asks for a payment identifier: the identifier is the id of the
 * authorization, so that seller and buyer use the same id for the payment. Empty if the seller does not ask for one.
 */
export function identifierOf(
  required: PaymentRequired | undefined,
  authorizationId: string,
): Pick<PaymentRequired, "extensions"> {
  const asked: unknown = required?.extensions?.[NAME];
  if (typeof asked !== "object" || asked === null || !("info" in asked)) return {};
  const info = typeof asked.info === "object" ? asked.info : {};
  return { extensions: { [NAME]: { ...asked, info: { ...info, id: authorizationId } } } };
}
