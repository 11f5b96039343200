import { asc, eq } from "drizzle-orm";
import { auditEvents } from "#lib/audit/tables.ts";
import { audit, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";

/** The events of one entity, oldest first. */
export const eventsAbout = (entityId: string) =>
  database().select().from(auditEvents).where(eq(auditEvents.entityId, entityId)).orderBy(asc(auditEvents.sequence));

/**
 * Appends this many events to the organization's audit chain, one for every quarter of an hour from 2026-01-01: first
 * `mandate.created`, then `payment.authorized`.
 */
export const addEvents = (organizationId: string, count: number): Promise<void> =>
  transact((tx) => {
    for (let at = 0; at < count; at += 1) {
      const [type, entityId] = at === 0 ? ["mandate.created", "mdt_1"] : ["payment.authorized", `aut_${at}`];
      const event = { type, actorId: "sa_1", organizationId, entityType: "thing", entityId, metadata: { at } };
      audit(tx, event, new Date(Date.parse("2026-01-01T00:00:00Z") + at * 900_000));
    }
    return Promise.resolve();
  });
