import { setTimeout as pause } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { holdsLease, underLease } from "#lib/onchain/relay-lease-store.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

const CHAIN = "eip155:84532";

test.concurrent("a lease that could not be released is free again within ten seconds", async () => {
  await expect(
    underLease(CHAIN, "settlement", async () => {
      await database().execute(sql`ALTER TABLE relay_leases RENAME TO relay_leases_away`);
    }),
  ).rejects.toThrow();
  await database().execute(sql`ALTER TABLE relay_leases_away RENAME TO relay_leases`);
  expect(await underLease(CHAIN, "settlement", async () => "taken")).toBeNull();
  await expect.poll(() => underLease(CHAIN, "settlement", async () => "taken"), { timeout: 10_000 }).toBe("taken");
});

test("work that takes longer than a lease renews it", async () => {
  const held = underLease(CHAIN, "relayer", async (lease) => {
    await pause(8_000);
    return database().transaction((tx) => holdsLease(tx, lease));
  });
  await pause(7_000);
  expect(await underLease(CHAIN, "relayer", async () => "taken")).toBeNull();
  expect(await held).toBe(true);
});
