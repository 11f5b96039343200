import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type { Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { displayAmount } from "#lib/money.ts";
import { devicesOfApprovers, findRequestOf } from "#lib/notices/rows/device-store.ts";
import { WINDOW_MS } from "#lib/notices/pace.ts";
import type { PlannedNotice } from "#lib/notices/plan-notices.ts";
import type { MessageOf } from "#lib/push/send-pushes.ts";
import { insertPushes, recentSounds } from "#lib/push/store.ts";
import { vapid } from "#lib/push/vapid.ts";

/** After this many messages with sound to a device in ten minutes, further messages about requests to it are silent. */
const SOUNDS_MAX = 3;

export async function pushRequest(tx: Tx, { auditEventId, kind }: PlannedNotice, request: CheckoutRow, now: Date): Promise<void> {
  if (vapid() === null) return;
  const { organizationId, checkoutIntentId, expiresAt: usefulUntil } = request;
  const devices = await devicesOfApprovers(tx, organizationId, now);
  const sounds = await recentSounds(tx, devices, WINDOW_MS);
  await insertPushes(
    tx,
    devices.map((deviceId) => ({
      pushId: newId("push"),
      deviceId,
      causeId: auditEventId,
      kind,
      organizationId,
      checkoutIntentId,
      silent: (sounds.get(deviceId) ?? 0) >= SOUNDS_MAX,
      usefulUntil,
    })),
  );
}

/** A lock screen may show the message, so it has payee and amount only if the person asked for them; null: no longer wanted. */
export const requestMessageOf: MessageOf = async (push) => {
  const request = await findRequestOf(push);
  if (!request) return null;
  const { checkoutIntentId, organizationId, kind, silent } = push;
  const { details, domain, amount, asset, tokenDecimals } = request;
  return {
    type: "request",
    kind,
    checkoutIntentId,
    organizationId,
    silent,
    ...(details && { payee: domain, amount: displayAmount(amount, tokenDecimals, asset) }),
  };
};
