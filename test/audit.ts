import { asc, eq } from "drizzle-orm";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";

/** The events of one entity, oldest first. */
export const eventsAbout = (entityId: string) =>
  database().select().from(auditEvents).where(eq(auditEvents.entityId, entityId)).orderBy(asc(auditEvents.sequence));
