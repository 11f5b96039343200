import { and, asc, eq, inArray } from "drizzle-orm";
import { expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { ask, outcomes } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import type { Owner } from "#test/identity.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { changeRole, remove } from "#test/members.ts";
import { random } from "#test/random.ts";
import { createPerson } from "#test/tenant.ts";

useDatabase();

const RACES = 30;
const policy = { assets, limits: { perPayment: "1", total: "1000" } };
const next = random(20_261_122);
const moment = (most: number) => new Promise((resolve) => setTimeout(resolve, next() * most));

const personOf = (buyer: Buyer, { userId, credential }: Awaited<ReturnType<typeof createPerson>>): Owner => ({
  userId,
  credential,
  email: "",
  organizationId: buyer.organizationId,
});

/**
 * Counts the payments of `actorId` that were authorized after the event. Event numbers are in the order of commits, because each
 * transaction that writes an event locks the organization's audit log until it commits.
 */
async function allowedAfter(organizationId: string, actorId: string, event: string): Promise<number> {
  const types = [event, "payment.authorized"];
  const rows = await database()
    .select({ type: auditEvents.type, actorId: auditEvents.actorId })
    .from(auditEvents)
    .where(and(eq(auditEvents.chain, organizationId), inArray(auditEvents.type, types)))
    .orderBy(asc(auditEvents.sequence));
  const at = rows.findIndex(({ type }) => type === event);
  return rows.slice(at + 1).filter((row) => row.actorId === actorId).length;
}

const takings = {
  "member.removed": (by: Owner, userId: string) => remove(by, userId),
  "member.roleUpdated": (by: Owner, userId: string) => changeRole(by, userId, "viewer"),
} as const;

test.each(Object.keys(takings) as (keyof typeof takings)[])(
  "no payment of a person is allowed after %s was answered, in any order of commits",
  async (event) => {
    const met = new Set<string>();
    for (let turn = 0; turn < RACES; turn += 1) {
      const buyer = await createBuyer();
      const mandateId = await activeMandate(buyer.person.credential, { policy });
      const admin = await createPerson(buyer.organizationId, "admin");
      const asked = Array.from({ length: 4 }, async () => {
        await moment(12);
        return ask(buyer, mandateId, {}, admin.credential);
      });
      await moment(12);
      expect((await takings[event](personOf(buyer, buyer.person), admin.userId)).status).toBe(200);
      const after = await ask(buyer, mandateId, {}, admin.credential);
      expect(after.problem.code).toBe("capability_required");
      for (const outcome of Object.keys(outcomes(await Promise.all(asked)))) met.add(outcome);
      expect(await allowedAfter(buyer.organizationId, admin.userId, event)).toBe(0);
    }
    // If all payments were allowed or all refused, the requests did not run at the same time as the change, and the test proves
    // nothing.
    expect(met).toContain("allow");
    expect(met.size).toBeGreaterThan(1);
  },
);
