import type { CheckoutView } from "#lib/approvals/checkout-view.ts";

/**
 * The mandate that the checkout names, otherwise the only mandate that allows the payment. If several allow the payment, the
 * person chooses.
 */
export function defaultMandate({ intent, mandates }: CheckoutView): string | undefined {
  const named = intent.mandateId ?? intent.detectedMandateId;
  const matches = mandates.filter(({ match }) => match);
  const only = matches.length === 1 ? matches[0] : undefined;
  return mandates.find(({ mandateId }) => mandateId === named)?.mandateId ?? only?.mandateId;
}

/** The mandate that the person chose, or the default one if the page no longer shows the chosen mandate. */
export const selectedMandate = (view: CheckoutView, chosen: string | undefined): string | undefined =>
  view.mandates.some(({ mandateId }) => mandateId === chosen) ? chosen : defaultMandate(view);
