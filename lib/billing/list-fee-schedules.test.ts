import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import * as contract from "#lib/billing/contract.ts";
import { listFeeSchedules } from "#lib/billing/list-fee-schedules.ts";
import { newSchedule, platformAdmin } from "#test/billing.ts";
import { useDatabase } from "#test/database.ts";
import { createAgent, createOrganization, send, type Credential } from "#test/tenant.ts";

useDatabase();

const list = (as: Credential, query = "") => send(contract.listFeeSchedules, listFeeSchedules, { as, query });

let admin: Credential;
const ids: Record<string, string> = {};
const mine = { organizationId: "", as: {} as Credential };
beforeAll(async () => {
  admin = (await platformAdmin()).credential;
  mine.organizationId = await createOrganization();
  mine.as = (await createAgent(mine.organizationId, ["billing:read"])).credential;
  const other = await createOrganization();
  const terms = {
    everyone: {},
    asBuyer: { buyerOrganizationId: mine.organizationId },
    asSeller: { sellerOrganizationId: mine.organizationId, buyerOrganizationId: other },
    tier: { planTier: "team" },
    otherTier: { planTier: "enterprise" },
    foreign: { buyerOrganizationId: other, planTier: "team" },
    draft: { status: "draft" },
  };
  for (const [name, one] of Object.entries(terms)) {
    await wait(2); // Ids that are made in the same millisecond are not ordered.
    ids[name] = (await newSchedule(admin, one)).feeScheduleId;
  }
  const body = { organizationId: mine.organizationId, tier: "team" };
  await send(contract.assignSubscription, assignSubscription, { as: admin, body });
});

const named = (...names: string[]) => names.map((name) => ids[name] ?? name);

describe("listFeeSchedules", () => {
  it("200 shows an organization its own schedules, those for its tier and for everyone, and the built-in schedule", async () => {
    const { status, data } = await list(mine.as);
    expect(status).toBe(200);
    expect(Object.keys(data)).toEqual(["items"]);
    const found = data.items.map(({ feeScheduleId }) => feeScheduleId);
    expect(found).toEqual(named("tier", "asSeller", "asBuyer", "everyone", "fs_default"));
    // No id of another organization, such as the buyer of the schedule asSeller.
    expect([...new Set(JSON.stringify(data).match(/org_[0-9a-z]{26}/g))]).toEqual([mine.organizationId]);
  });

  it("200 shows a platform admin all schedules", async () => {
    const { data } = await list(admin);
    expect(data.items).toHaveLength(8);
  });

  it("lists each schedule once if the client follows the Link header", async () => {
    const seen: string[] = [];
    let query = "?limit=2";
    for (;;) {
      const { data, headers } = await list(admin, query);
      seen.push(...data.items.map(({ feeScheduleId }) => feeScheduleId));
      const next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
      if (next === undefined) break;
      query = next.slice(next.indexOf("?"));
    }
    expect(seen).toEqual(named("draft", "foreign", "otherTier", "tier", "asSeller", "asBuyer", "everyone", "fs_default"));
  });

  it("403 without billing:read", async () => {
    const agent = await createAgent(mine.organizationId, ["billing:quote"]);
    expect((await list(agent.credential)).status).toBe(403);
  });

  it("400 for an invented cursor", async () => {
    expect((await list(mine.as, "?cursor=x")).status).toBe(400);
  });
});
