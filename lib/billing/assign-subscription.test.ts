import { beforeAll, describe, expect, it } from "vitest";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import * as contract from "#lib/billing/contract.ts";
import { eventsAbout } from "#test/audit.ts";
import { platformAdmin } from "#test/billing.ts";
import { useDatabase } from "#test/database.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let as: Credential;
let organizationId: string;
beforeAll(async () => {
  as = (await platformAdmin()).credential;
  organizationId = await createOrganization();
});

const assign = (body: unknown, more: { as?: Credential; key?: string } = {}) =>
  send(contract.assignSubscription, assignSubscription, { as, body, ...more });

describe("assignSubscription", () => {
  it("200 fills in plan, status and period, and writes its event in the organization's audit chain", async () => {
    const { status, data } = await assign({ organizationId, currentPeriodStart: "2027-01-31T12:00:00Z" });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      organizationId,
      planId: "developer",
      tier: "developer",
      status: "active",
      billingProvider: "service",
      currentPeriodStart: "2027-01-31T12:00:00.000Z",
      currentPeriodEnd: "2027-02-28T12:00:00.000Z",
    });
    expect(await eventsAbout(data.subscriptionId)).toMatchObject([{ type: "subscription.assigned", chain: organizationId }]);
  });

  it("200 replaces the one subscription of an organization", async () => {
    const own = await createOrganization();
    const first = await assign({ organizationId: own, metadata: { a: 1 } });
    const { data } = await assign({ organizationId: own, tier: "team", planId: "team-2026", status: "trialing" });
    expect(data).toMatchObject({
      subscriptionId: first.data.subscriptionId,
      tier: "team",
      planId: "team-2026",
      status: "trialing",
    });
    expect(data.createdAt).toBe(first.data.createdAt);
    expect(data).not.toHaveProperty("metadata");
    expect(await eventsAbout(data.subscriptionId)).toHaveLength(2);
  });

  it.each<readonly [string, object]>([
    ["/organizationId", { organizationId: undefined }],
    ["/tier", { tier: "gold" }],
    ["/status", { status: "frozen" }],
    ["/currentPeriodStart", { currentPeriodStart: "2027-02-30T00:00:00Z" }],
    ["/currentPeriodEnd", { currentPeriodStart: "2027-01-01T00:00:00Z", currentPeriodEnd: "2026-01-01T00:00:00Z" }],
    ["/billingProvider", { billingProvider: "stripe" }],
    ["/subscriptionId", { subscriptionId: "sub_1" }],
  ])("400 points at %s of %j", async (pointer, change) => {
    const { status, problem } = await assign({ organizationId, ...change });
    expect([status, problem.errors?.map((error) => error.pointer)]).toEqual([400, [pointer]]);
  });

  it("403 for the owner of the organization", async () => {
    const owner = await createPerson(organizationId);
    expect((await assign({ organizationId, tier: "enterprise" }, { as: owner.credential })).status).toBe(403);
  });

  it("404 for an organization that does not exist", async () => {
    expect((await assign({ organizationId: "org_unknown" })).status).toBe(404);
  });

  it("replays one key without a second event", async () => {
    const own = await createOrganization();
    const first = await assign({ organizationId: own }, { key: "a1" });
    const again = await assign({ organizationId: own }, { key: "a1" });
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    expect(await eventsAbout(first.data.subscriptionId)).toHaveLength(1);
  });
});
