import { sql } from "drizzle-orm";

/** A time that is due. Stored times are rounded to milliseconds, so a stored "now" may still lie in the future. */
export const past = sql`clock_timestamp() - interval '1 second'`;
