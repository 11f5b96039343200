import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { holdOf, lockMandate, releaseHold, selectHold, suspendActive } from "#lib/holds/hold-store.ts";
import { selectOverdueHolds } from "#lib/holds/sweep-store.ts";
import { mayHoldMore } from "#lib/holds/open-payment-store.ts";
import { changedReservations } from "#lib/holds/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { sumHeld } from "#lib/platform/emergency-store.ts";
import { ask } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { seedPayments } from "#test/many-payments.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

test("holds are found by their keys, however many holds there are", async () => {
  await seedPayments("org_7", 20_000);
  await database().execute(sql`
    INSERT INTO changed_reservations (authorization_id, organization_id, mandate_id, status, amount, buckets, expires_at)
    SELECT authorization_id, organization_id, mandate_id, 'captured', 1, '[]', created_at
    FROM authorizations`);
  await database().execute(sql`
    INSERT INTO recorded_payments (authorization_id, organization_id, environment, mandate_id, reference_key, status, deadline, closed_at)
    SELECT authorization_id, organization_id, environment, mandate_id, authorization_id, 'closed', created_at, created_at
    FROM authorizations`);
  await database().execute(sql`
    INSERT INTO card_parts (authorization_id, connection_id, stripe_id, position, held, open)
    SELECT authorization_id, organization_id, authorization_id, 0, 1, 0 FROM authorizations`);
  const tables = ["changed_reservations", "authorizations", "recorded_payments", "card_parts"];
  // This time is later than every seeded payment, so that the time alone excludes them all.
  const since = new Date();
  expect(await planOf(selectHold(database(), "aut_7"), tables)).toMatchObject({ whole: [] });
  // Only administrators ask for this, and an index on reserved amounts would make each payment slower. Here, `executions` is empty.
  expect(await planOf(selectOverdueHolds(database()), ["recorded_payments", "card_parts"])).toMatchObject({
    whole: ["executions", "mandates"],
  });
  for (const kind of ["mandate", "agent", "seller"] as const) {
    expect(await planOf(sumHeld(database(), { kind, id: "7" }, since), []), kind).toMatchObject({ whole: [] });
  }
});

test("what a transaction stores after it waited 3 seconds for a lock is later than the end of that lock", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  const { authorizationId } = (await ask(buyer, mandateId)).data;
  const locked = Promise.withResolvers<void>();
  const holder = database().transaction(async (tx) => {
    await lockMandate(tx, mandateId);
    locked.resolve();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return clock(tx);
  });
  await locked.promise;
  await database().transaction(async (tx) => {
    // Sent at once, so the second statement has arrived long before the lock is free.
    await Promise.all([lockMandate(tx, mandateId), suspendActive(tx, mandateId)]);
    await releaseHold(tx, (await holdOf(tx, authorizationId))!, "released");
  });
  const end = await holder;
  const [mandate] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
  const [hold] = await database()
    .select()
    .from(changedReservations)
    .where(eq(changedReservations.authorizationId, authorizationId));
  expect(mandate).toMatchObject({ status: "suspended", updatedAt: expect.toSatisfy((at: Date) => at >= end) as unknown });
  expect(hold).toMatchObject({ status: "released", resolvedAt: expect.toSatisfy((at: Date) => at >= end) as unknown });
});

test("a payment that an order pays in the last minute of its approval may be held for 25 hours and 15 minutes", async () => {
  const [organizationId, mandateId] = ["org_8", "mdt_8"];
  await seedPayments(organizationId, 5_001);
  const mayHoldAfter = (age: string) =>
    database().transaction(async (tx) => {
      // Authorizations are append-only, so switch the trigger off to make them older.
      await tx.execute(sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(sql`UPDATE authorizations SET mandate_id = ${mandateId},
        created_at = statement_timestamp() - ${age}::interval WHERE organization_id = ${organizationId}`);
      return mayHoldMore(tx, { mandateId, organizationId });
    });
  expect([await mayHoldAfter("25 hours 14 minutes"), await mayHoldAfter("27 hours")]).toEqual([true, false]);
});
