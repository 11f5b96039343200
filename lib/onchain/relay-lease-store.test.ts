import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { extendLease, holdsLease, underLease, type Lease } from "#lib/onchain/relay-lease-store.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

const chain = "eip155:84532";
const holds = (lease: Lease) => database().transaction((tx) => holdsLease(tx, lease));

test("a lease is extended while its work runs, but not without limit, so that work that never ends does not block others", async () => {
  const never = new Promise<void>(() => {});
  const begun = Promise.withResolvers<void>();
  void underLease(chain, "settlement", () => (begun.resolve(), never), 5_000);
  await begun.promise;
  const take = () => underLease(chain, "settlement", async () => "taken");
  await new Promise((resolve) => setTimeout(resolve, 7_500));
  expect(await take()).toBeNull();
  await expect.poll(take, { interval: 250 }).toBe("taken");
});

test("a lease that a clock that ran ahead has made too long is taken over, and its first holder then has none", async () => {
  const takeNow = () => underLease(chain, "relayer", async () => "taken");
  const late = (by: string) =>
    database().execute(sql`UPDATE relay_leases SET expires_at = statement_timestamp() + ${by}::interval`);
  await underLease(chain, "relayer", async (first) => {
    await late("6 seconds");
    expect(await takeNow()).toBeNull();
    await late("2 hours");
    expect(await holds(first)).toBe(true);
    const found = await underLease(chain, "relayer", async (second) => [
      await holds(first),
      await extendLease(first),
      await holds(second),
      await takeNow(),
    ]);
    expect(found).toEqual([false, false, true, null]);
  });
});

test("a lease that is taken while a call waits 3 seconds for its row is not taken over, although it ends late for that call", async () => {
  await underLease(chain, "guardian", async () => {});
  const locked = Promise.withResolvers<void>();
  const other = database().transaction(async (tx) => {
    await tx.execute(sql`SELECT FROM relay_leases WHERE key = 'guardian' FOR UPDATE`);
    locked.resolve();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await tx.execute(
      sql`UPDATE relay_leases SET holder = 'other', expires_at = statement_timestamp() + interval '6 seconds' WHERE key = 'guardian'`,
    );
  });
  await locked.promise;
  expect(await underLease(chain, "guardian", async () => "taken")).toBeNull();
  await other;
});
