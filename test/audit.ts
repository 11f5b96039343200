import { asc, eq } from "drizzle-orm";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";

/** The events about one thing, oldest first. */
export const eventsAbout = (entityId: string) =>
  database().select().from(auditEvents).where(eq(auditEvents.entityId, entityId)).orderBy(asc(auditEvents.sequence));
