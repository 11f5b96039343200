import { sql } from "drizzle-orm";

/** A time in the past. Stored times are rounded to milliseconds, so a stored "now" may be in the future. */
export const past = sql`statement_timestamp() - interval '1 second'`;
