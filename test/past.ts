import { sql } from "drizzle-orm";

/** What is due by now. Stored times are rounded to the next millisecond, so that the time of this moment may still lie ahead. */
export const past = sql`clock_timestamp() - interval '1 second'`;
