import { sql } from "drizzle-orm";
import { check, customType, timestamp } from "drizzle-orm/pg-core";
import type { Atomic } from "#lib/money.ts";

/** Store only integers: PostgreSQL silently rounds a fraction in a column without decimal places. */
export const atomic = customType<{ data: Atomic; driverData: string }>({
  dataType: () => "numeric(78,0)",
  fromDriver: (value) => BigInt(value) as Atomic,
  toDriver: (value) => value.toString(),
});

/** Excludes NaN too, which the type numeric accepts and which counts as larger than every number. */
export const amountCheck = (name: string, column: string) => check(name, sql.raw(`${column} >= 0 AND ${column} < 'NaN'`));

export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });
export const createdAt = () =>
  moment("created_at")
    .notNull()
    .default(sql`clock_timestamp()`);
export const updatedAt = () =>
  moment("updated_at")
    .notNull()
    .default(sql`clock_timestamp()`);

/** Hexadecimal text in the code, bytes in the database, because bytes take half the space. */
export const hashBytes = customType<{ data: string; driverData: Buffer | string }>({
  dataType: () => "bytea",
  fromDriver: (stored) => (typeof stored === "string" ? stored.slice(2) : stored.toString("hex")),
  toDriver: (hex) => `\\x${hex}`,
});
