import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { setStepUpThreshold } from "#lib/identity/members/set-step-up-threshold.ts";
import { viewStepUpLimits } from "#lib/pages/buyer/view-approvals.ts";
import { callerOf } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization, type Owner } from "#test/identity.ts";
import { proved } from "#test/proofs.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const set = (by: Owner, body: unknown, organizationId = by.organizationId) =>
  send(contract.setStepUpThreshold, setStepUpThreshold, { id: organizationId, body, as: by.credential });

/** Higher amounts need a proof of exactly this change. */
const raise = (by: Owner, body: unknown) => proved(by.credential, () => set(by, body));

async function shown(by: Owner): Promise<string | null> {
  const caller = await callerOf(by.credential);
  return (await viewStepUpLimits({ ...caller, organizationId: by.organizationId })).above;
}

describe("setStepUpThreshold", () => {
  test("is set, shown and removed, and each change is in the audit log once", async () => {
    const owner = await newOrganization();
    expect(await shown(owner)).toBeNull();
    expect((await set(owner, { above: "250.5" })).problem.code).toBe("step_up_required");
    expect((await raise(owner, { above: "250.5" })).data).toEqual({ organizationId: owner.organizationId, above: "250.5" });
    expect((await set(owner, { above: "250.5" })).status).toBe(200);
    expect(await shown(owner)).toBe("250.5");
    expect((await set(owner, {})).data).toEqual({ organizationId: owner.organizationId });
    expect(await shown(owner)).toBeNull();
    const events = await database()
      .select({ metadata: auditEvents.metadata })
      .from(auditEvents)
      .where(and(eq(auditEvents.entityId, owner.organizationId), eq(auditEvents.type, "organization.updated")))
      .orderBy(auditEvents.auditEventId);
    expect(events.map(({ metadata }) => (metadata as { stepUpAbove: unknown }).stepUpAbove)).toEqual([
      { from: null, to: "250.5" },
      { from: "250.5", to: null },
    ]);
  });

  test("the limit for payees that are not verified is a separate setting", async () => {
    const owner = await newOrganization();
    const both = { above: "250", aboveUnverified: "50" };
    expect((await raise(owner, both)).data).toEqual({ organizationId: owner.organizationId, ...both });
    expect((await set(owner, { above: "250" })).data).toEqual({ organizationId: owner.organizationId, above: "250" });
  });

  test("403 without members:manage, 404 for another organization", async () => {
    const owner = await newOrganization();
    const approver = await newMember(owner, "approver");
    expect((await set(approver, { above: "1000000" })).problem.code).toBe("capability_required");
    const other = await newOrganization();
    expect((await set(other, { above: "1000000" }, owner.organizationId)).problem.code).toBe("not_found");
    expect(await shown(owner)).toBeNull();
  });

  test.each(["-1", "1e3", "", "NaN", "0x10", "1,5", 5, null])("400 points at the field for %j", async (above) => {
    const owner = await newOrganization();
    const { status, problem } = await set(owner, { above });
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/above"]);
  });
});
