"use client";

import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import type * as contract from "#lib/cards/contract.ts";
import { atAddress, call } from "#lib/http/client.ts";
import type { PaymentView } from "#lib/pages/buyer/view-payment.ts";

const closeCardPayment = atAddress<typeof contract.closeCardPayment>({
  id: "closeCardPayment",
  method: "POST",
  path: "/api/v1/rails/payments/{authorizationId}/close",
});

type Props = { readonly authorizationId: string; readonly asks: NonNullable<NonNullable<PaymentView["carded"]>["asks"]> };

/** Ends the question about a payment by card, for a person who has looked at Stripe. */
export const CloseCard = ({ authorizationId, asks }: Props) => (
  <ConfirmDialog
    trigger={asks === "unconfirmed" ? "Free what is held" : "I have seen it"}
    look={{ size: "small" }}
    title={asks === "unconfirmed" ? "Free what this payment holds" : "End this question"}
    action={asks === "unconfirmed" ? "Free it" : "End question"}
    tone="primary"
    nothing="The question is still open."
    act={() => call(closeCardPayment, { authorizationId, body: {} })}
    done={asks === "unconfirmed" ? "Nothing is held for it any more" : "The question has ended"}
  >
    <p className="text-sm">
      {asks === "unconfirmed"
        ? "Look at the payment at Stripe first. If it was not captured there, what is held becomes free again. It asks for the same proof as allowing that amount."
        : "What was captured counts already, and stays so."}{" "}
      What Stripe tells later still counts.
    </p>
  </ConfirmDialog>
);
