import { asc, eq } from "drizzle-orm";
import { auditAlarms } from "#lib/audit/tables.ts";
import { database, type Database } from "#lib/db/client.ts";

export type AuditAlarm = typeof auditAlarms.$inferSelect;

export async function findAlarm(chain: string): Promise<AuditAlarm | null> {
  const [row] = await database().select().from(auditAlarms).where(eq(auditAlarms.chain, chain));
  return row ?? null;
}

/** If the audit log has an alarm already, the new one replaces it and keeps its `raisedAt`. */
export async function saveAlarm(alarm: Omit<AuditAlarm, "raisedAt">): Promise<void> {
  const { chain: _, ...change } = alarm;
  await database().insert(auditAlarms).values(alarm).onConflictDoUpdate({ target: auditAlarms.chain, set: change });
}

export async function endAlarm(chain: string, on: Pick<Database, "delete"> = database()): Promise<void> {
  await on.delete(auditAlarms).where(eq(auditAlarms.chain, chain));
}

export const selectAlarms = (rows: number): Promise<AuditAlarm[]> =>
  database().select().from(auditAlarms).orderBy(asc(auditAlarms.raisedAt), asc(auditAlarms.chain)).limit(rows);

export const countAlarms = (): Promise<number> => database().$count(auditAlarms);
