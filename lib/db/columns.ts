import { sql } from "drizzle-orm";
import { check, customType, timestamp } from "drizzle-orm/pg-core";
import type { Atomic } from "#lib/money.ts";

/** An amount in atomic units. Scale 0 is checked by amountCheck: PostgreSQL would round a fraction silently. */
export const atomic = customType<{ data: Atomic; driverData: string }>({
  dataType: () => "numeric(78,0)",
  fromDriver: (value) => BigInt(value) as Atomic,
  toDriver: (value) => value.toString(),
});

/** The check of an amount column. It excludes NaN, which PostgreSQL's numeric accepts and counts as larger than every number. */
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

/** A hash: hexadecimal text in the application, bytes in the database, which is half as long. */
export const hashBytes = customType<{ data: string; driverData: Buffer | string }>({
  dataType: () => "bytea",
  fromDriver: (stored) => (typeof stored === "string" ? stored.slice(2) : stored.toString("hex")),
  toDriver: (hex) => `\\x${hex}`,
});
