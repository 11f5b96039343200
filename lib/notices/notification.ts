import { statusAt } from "#lib/approvals/present-checkout.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { isOpen } from "#lib/approvals/checkout-state.ts";
import { database } from "#lib/db/client.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { hasDevice } from "#lib/notices/rows/device-store.ts";
import type { Notification } from "#lib/notices/notification-schema.ts";
import { readToldFacts, type DeliveryFacts } from "#lib/notices/rows/told-store.ts";
import { readPushes, type PushFacts } from "#lib/push/store.ts";
import { vapid } from "#lib/push/vapid.ts";
import { toWire } from "#lib/time.ts";

/** Without an accepted message, a channel is unreachable once each of its queued messages had this many attempts. */
const FAILED_TRIES = 2;

type ChannelState = { readonly status: Notification["status"]; readonly acceptedAt?: Date; readonly detail: string };

const noMail = {
  none: "This service sends no mail, so nobody was told. Give the link to a person who may approve.",
  outbox:
    "This sandbox sends no mail, so nobody was told: its mails are shown at /outbox. Give the link to a person who may approve.",
} as const;

const stillTried = ({ waiting, attempts }: Pick<PushFacts, "waiting" | "attempts">): boolean =>
  waiting > 0 && attempts < FAILED_TRIES;

function unreached({ failed, mails }: DeliveryFacts): string {
  if (failed)
    return "The messages about this request could not be written, so nobody was told. Give the link to a person who may approve.";
  return mails === 0
    ? "Nobody who may approve gets mail: their addresses are not confirmed, or they switched it off. Give the link to a person who may approve."
    : "The mail server has not taken the mail about this request. Give the link to a person who may approve.";
}

/** `facts` is null while no notice of the request was delivered or has failed. */
function mailState(delivery: ReturnType<typeof mailDelivery>, facts: DeliveryFacts | null): ChannelState {
  if (delivery !== "smtp") return { status: "unreachable", detail: noMail[delivery] };
  if (facts?.acceptedAt) {
    return {
      status: "accepted",
      acceptedAt: facts.acceptedAt,
      detail: "A mail server took the mail about this request. That does not mean that anybody read it.",
    };
  }
  if (facts === null || stillTried(facts)) return { status: "pending", detail: "The mail about this request is being sent." };
  return { status: "unreachable", detail: unreached(facts) };
}

/** Null if no message exists and none `isPlanned`. */
function pushState(facts: PushFacts, isPlanned: boolean): ChannelState | null {
  if (facts.acceptedAt) {
    return {
      status: "accepted",
      acceptedAt: facts.acceptedAt,
      detail: "A push service took the message about this request. That does not mean that anybody read it.",
    };
  }
  if (isPlanned || stillTried(facts)) return { status: "pending", detail: "The message about this request is being sent." };
  return facts.count === 0
    ? null
    : {
        status: "unreachable",
        detail: "No device has taken the message about this request. Give the link to a person who may approve.",
      };
}

const order = ["accepted", "pending", "unreachable"] as const;

/** The notification has the status of its best channel. */
function combine(mail: ChannelState, push: ChannelState | null): Notification {
  const states = push ? [mail, push] : [mail];
  const best = order.flatMap((status) => states.find((state) => state.status === status) ?? [])[0] ?? mail;
  const channel = (name: "mail" | "push", { acceptedAt }: ChannelState) => ({
    channel: name,
    ...(acceptedAt && { acceptedAt: toWire(acceptedAt) }),
  });
  return {
    status: best.status,
    channels: [channel("mail", mail), ...(push ? [channel("push", push)] : [])],
    detail: best.detail,
  };
}

/** Null if the request was decided, or ended otherwise than by its expiry. */
export async function notificationOf(checkout: CheckoutRow, now: Date): Promise<Notification | null> {
  const status = statusAt(checkout, now);
  if (!isOpen(status) && status !== "expired") return null;
  const { checkoutIntentId, organizationId } = checkout;
  const facts = await readToldFacts(database(), checkoutIntentId);
  const mail = mailState(mailDelivery(), facts);
  if (vapid() === null) return combine(mail, null);
  const pushes = await readPushes(database(), checkoutIntentId);
  const isPlanned = facts === null && isOpen(status) && (await hasDevice(organizationId, now));
  return combine(mail, pushState(pushes, isPlanned));
}
