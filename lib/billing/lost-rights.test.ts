import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import * as contract from "#lib/billing/contract.ts";
import { saveFeeSchedule } from "#lib/billing/save-fee-schedule.ts";
import { feeSchedules, subscriptions } from "#lib/billing/tables.ts";
import { GATE } from "#lib/command/gate-store.ts";
import { database } from "#lib/db/client.ts";
import { newSchedule, platformAdmin } from "#test/billing.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { createOrganization, send } from "#test/tenant.ts";

const databaseOf = useDatabase();

/** Asks while another transaction takes the platform role away, and returns the code of the refusal. */
async function askedTooLate(userId: string, ask: () => ReturnType<typeof send>) {
  const revoking = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
  const asked = ask();
  await revoking.blocks();
  await revoking.sql`UPDATE "user" SET platform_roles = '{user}' WHERE id = ${userId}`;
  await revoking.sql.unsafe("COMMIT");
  return (await asked).problem.code;
}

it("403 if a revocation that has begun takes the role away, and the fee schedule stays", async () => {
  const { userId, credential: as } = await platformAdmin();
  const { feeScheduleId } = await newSchedule(as, { percentageBps: 100 });
  const body = { feeScheduleId, name: "Free" };
  expect(await askedTooLate(userId, () => send(contract.saveFeeSchedule, saveFeeSchedule, { as, body }))).toBe("forbidden");
  expect(await database().select().from(feeSchedules).where(eq(feeSchedules.feeScheduleId, feeScheduleId))).toMatchObject([
    { percentageBps: 100 },
  ]);
});

it("403 if a revocation that has begun takes the role away, and no subscription is assigned", async () => {
  const { userId, credential: as } = await platformAdmin();
  const organizationId = await createOrganization();
  const body = { organizationId, tier: "enterprise" };
  expect(await askedTooLate(userId, () => send(contract.assignSubscription, assignSubscription, { as, body }))).toBe("forbidden");
  expect(await database().select().from(subscriptions).where(eq(subscriptions.organizationId, organizationId))).toEqual([]);
});
