import { sql } from "drizzle-orm";
import { deleteOld } from "#lib/db/delete-old.ts";
import { hasEnded, type Outbox } from "#lib/outbox/store.ts";
import { PAUSES } from "#lib/webhooks/deliveries/attempt.ts";
import { DELIVERY_LEASE_MS } from "#lib/webhooks/limits.ts";
import { webhookDeliveries } from "#lib/webhooks/tables.ts";

/** The events of the audit chain have a row here from their first attempt on. */
export const deliveries: Outbox<typeof webhookDeliveries> = {
  table: webhookDeliveries,
  id: webhookDeliveries.webhookDeliveryId,
  due: "nextAttemptAt",
  waiting: "pending",
  longest: sql`greatest(${DELIVERY_LEASE_MS}, (string_to_array(${PAUSES.join(",")}, ',')::float8[])[attempts])`,
};

const KEPT_DAYS = 30;

export const forgetOldDeliveries = (): Promise<number> => deleteOld(webhookDeliveries.createdAt, KEPT_DAYS, hasEnded(deliveries));
