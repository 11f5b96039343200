import { statusAt } from "#lib/approvals/present-checkout.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { isOpen } from "#lib/approvals/checkout-state.ts";
import { database } from "#lib/db/client.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import type { Notification } from "#lib/notices/notification-schema.ts";
import { readDeliveries, type DeliveryFacts } from "#lib/notices/told-store.ts";
import { toWire } from "#lib/time.ts";

/** After two refusals a mail may still arrive later, but nobody should count on it. */
const FAILED_TRIES = 2;

const noMail = {
  none: "This service sends no mail, so nobody was told. Give the link to a person who may approve.",
  outbox:
    "This sandbox sends no mail, so nobody was told: its mails are shown at /outbox. Give the link to a person who may approve.",
} as const;

/** What is known about the mails of a request. `facts`: null while the worker has not delivered its first notice. */
function mailNotification(delivery: ReturnType<typeof mailDelivery>, facts: DeliveryFacts | null): Notification {
  if (delivery !== "smtp") return { status: "unreachable", channels: [{ channel: "mail" }], detail: noMail[delivery] };
  if (facts?.acceptedAt) {
    return {
      status: "accepted",
      channels: [{ channel: "mail", acceptedAt: toWire(facts.acceptedAt) }],
      detail: "A mail server took the mail about this request. That does not mean that anybody read it.",
    };
  }
  if (facts === null || (facts.waiting > 0 && facts.attempts < FAILED_TRIES)) {
    return { status: "pending", channels: [{ channel: "mail" }], detail: "The mail about this request is being sent." };
  }
  return {
    status: "unreachable",
    channels: [{ channel: "mail" }],
    detail:
      facts.mails === 0
        ? "Nobody who may approve gets mail: their addresses are not confirmed, or they switched it off. Give the link to a person who may approve."
        : "The mail server has not taken the mail about this request. Give the link to a person who may approve.",
  };
}

/** Whether people were told about a request that nobody has decided; null after the decision. */
export async function notificationOf(checkout: CheckoutRow, now: Date): Promise<Notification | null> {
  const status = statusAt(checkout, now);
  if (!isOpen(status) && status !== "expired") return null;
  const delivery = mailDelivery();
  return mailNotification(delivery, delivery === "smtp" ? await readDeliveries(database(), checkout.checkoutIntentId) : null);
}
