import type { CheckoutView } from "#lib/approvals/checkout-view.ts";

/** The named or detected mandate if the page shows it, or else the one that allows the payment, if only one does. */
export function defaultMandate({ intent, mandates }: CheckoutView): string | undefined {
  const named = intent.mandateId ?? intent.detectedMandateId;
  const matches = mandates.filter(({ match }) => match);
  const only = matches.length === 1 ? matches[0] : undefined;
  return mandates.find(({ mandateId }) => mandateId === named)?.mandateId ?? only?.mandateId;
}

/** Returns the default mandate if the person chose none, or if the page no longer shows their choice. */
export const selectedMandate = (view: CheckoutView, chosen: string | undefined): string | undefined =>
  view.mandates.some(({ mandateId }) => mandateId === chosen) ? chosen : defaultMandate(view);
