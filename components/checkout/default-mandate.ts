import type { CheckoutView } from "#lib/approvals/checkout-view.ts";

/**
 * Returns the mandate that the checkout names or that was detected for it, if the page shows that mandate; otherwise the only
 * mandate that allows the payment. Undefined if none or several allow the payment.
 */
export function defaultMandate({ intent, mandates }: CheckoutView): string | undefined {
  const named = intent.mandateId ?? intent.detectedMandateId;
  const matches = mandates.filter(({ match }) => match);
  const only = matches.length === 1 ? matches[0] : undefined;
  return mandates.find(({ mandateId }) => mandateId === named)?.mandateId ?? only?.mandateId;
}

/**
 * Returns the mandate that the person chose, or the default mandate if they chose none or the page no longer shows their
 * choice.
 */
export const selectedMandate = (view: CheckoutView, chosen: string | undefined): string | undefined =>
  view.mandates.some(({ mandateId }) => mandateId === chosen) ? chosen : defaultMandate(view);
