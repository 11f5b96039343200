import { sql } from "drizzle-orm";
import { deleteOld } from "#lib/db/delete-old.ts";
import { notices } from "#lib/notices/tables.ts";
import { hasEnded, type Outbox } from "#lib/outbox/store.ts";
import { minutes } from "#lib/time.ts";

/** The notices of a request are handled together. */
export const noticeBox: Outbox<typeof notices> = {
  table: notices,
  id: notices.checkoutIntentId,
  due: "dueAt",
  waiting: "waiting",
  longest: minutes(1),
  // Reminders are due at times that follow from the request; only its first notice is due at once.
  farAhead: sql`${notices.kind} <> 'opened'`,
};

const KEPT_DAYS = 30;

export const forgetOldNotices = (): Promise<number> => deleteOld(notices.endedAt, KEPT_DAYS, hasEnded(noticeBox));
