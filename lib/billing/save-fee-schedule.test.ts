import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import * as contract from "#lib/billing/contract.ts";
import { saveFeeSchedule } from "#lib/billing/save-fee-schedule.ts";
import { database } from "#lib/db/client.ts";
import { session } from "#lib/identity/tables.ts";
import { eventsAbout } from "#test/audit.ts";
import { newSchedule, platformAdmin } from "#test/billing.ts";
import { useDatabase } from "#test/database.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let as: Credential;
beforeAll(async () => {
  as = (await platformAdmin()).credential;
});

const save = (body: unknown, more: { as?: Credential; key?: string } = {}) =>
  send(contract.saveFeeSchedule, saveFeeSchedule, { as, body, ...more });

describe("saveFeeSchedule", () => {
  it("200 creates with defaults, and writes its event in the platform's audit chain", async () => {
    const { status, data } = await save({ name: "Everyone" });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      name: "Everyone",
      status: "active",
      feePayer: "buyer",
      feeRecipient: "service",
      percentageBps: 0,
      flatAmount: "0",
      includedMonthlyVolume: 0,
      effectiveFrom: data.createdAt,
    });
    expect(await eventsAbout(data.feeScheduleId)).toMatchObject([{ type: "feeSchedule.created", chain: "platform" }]);
  });

  it("200 repeats the answer to a retry after the admin has changed to another organization", async () => {
    const admin = await platformAdmin();
    const send = () => save({ name: "Once" }, { as: admin.credential, key: "once" });
    const first = await send();
    await database()
      .update(session)
      .set({ activeOrganizationId: await createOrganization() })
      .where(eq(session.userId, admin.userId));
    expect((await send()).data).toEqual(first.data);
  });

  it("200 stores every term, amounts in canonical form", async () => {
    const buyerOrganizationId = await createOrganization();
    const sellerOrganizationId = await createOrganization();
    const terms = {
      name: "All",
      status: "scheduled",
      buyerOrganizationId,
      sellerOrganizationId,
      planTier: "business",
      settlementMode: "facilitatorSettled",
      chain: "eip155:84532",
      asset: "USDC",
      feePayer: "split",
      feeRecipient: "treasury",
      percentageBps: 10_000,
      includedMonthlyVolume: Number.MAX_SAFE_INTEGER,
      metadata: { note: "x" },
    };
    const { data } = await save({
      ...terms,
      flatAmount: "0.10",
      minimumFeeAmount: "0.01",
      maximumFeeAmount: "1.000000",
      effectiveFrom: "2026-12-01T01:00:00+01:00",
      effectiveUntil: "2027-01-01T00:00:00Z",
    });
    expect(data).toMatchObject({
      ...terms,
      flatAmount: "0.1",
      minimumFeeAmount: "0.01",
      maximumFeeAmount: "1",
      effectiveFrom: "2026-12-01T00:00:00.000Z",
      effectiveUntil: "2027-01-01T00:00:00.000Z",
    });
  });

  it("200 replaces every term of the schedule, keeps its start, and records both hashes", async () => {
    const old = await newSchedule(as, { percentageBps: 100, planTier: "team", effectiveFrom: "2026-01-01T00:00:00Z" });
    const { data } = await save({ feeScheduleId: old.feeScheduleId, name: "New", status: "archived" });
    expect(data).toMatchObject({ feeScheduleId: old.feeScheduleId, name: "New", percentageBps: 0, createdAt: old.createdAt });
    expect(data.effectiveFrom).toBe(old.effectiveFrom);
    expect(data).not.toHaveProperty("planTier");
    const events = await eventsAbout(old.feeScheduleId);
    expect(events.map(({ type }) => type)).toEqual(["feeSchedule.created", "feeSchedule.updated"]);
    const [created, updated] = events.map(({ metadata }) => metadata as Record<string, string>);
    expect(updated?.["replacedHash"]).toBe(created?.["feeScheduleHash"]);
    expect(updated?.["feeScheduleHash"]).not.toBe(created?.["feeScheduleHash"]);
  });

  it.each<readonly [readonly string[], object]>([
    [["/name"], { name: "" }],
    [["/status"], { status: "live" }],
    [["/percentageBps"], { percentageBps: 10_001 }],
    [["/percentageBps"], { percentageBps: -1 }],
    [["/percentageBps"], { percentageBps: 1.5 }],
    [["/includedMonthlyVolume"], { includedMonthlyVolume: -1 }],
    [["/planTier"], { planTier: "gold" }],
    [["/feePayer"], { feePayer: "agent" }],
    [["/flatAmount"], { flatAmount: "0.5" }],
    [["/minimumFeeAmount", "/maximumFeeAmount"], { minimumFeeAmount: "0.5", maximumFeeAmount: "1" }],
    [["/flatAmount"], { asset: "USDC", flatAmount: "0.0000001" }],
    [["/flatAmount"], { asset: "USDC", flatAmount: "-1" }],
    [["/maximumFeeAmount"], { asset: "USDC", minimumFeeAmount: "2", maximumFeeAmount: "1" }],
    [["/asset"], { asset: "DAI" }],
    [["/chain"], { chain: "eip155:1" }],
    [["/effectiveFrom"], { effectiveFrom: "tomorrow" }],
    [["/effectiveUntil"], { effectiveFrom: "2027-01-01T00:00:00Z", effectiveUntil: "2027-01-01T00:00:00Z" }],
    [["/feeScheduleId"], { feeScheduleId: "fs_default" }],
    [["/createdAt"], { createdAt: "2026-01-01T00:00:00Z" }],
  ])("400 points at %j of %j", async (pointers, change) => {
    const { status, problem } = await save({ name: "Bad", ...change });
    expect([status, problem.errors?.map((error) => error.pointer)]).toEqual([400, pointers]);
  });

  it("403 for an owner without platform rights, and for every key", async () => {
    const organizationId = await createOrganization();
    const owner = await createPerson(organizationId);
    const agent = await createAgent(organizationId, ["billing:read", "billing:quote"]);
    expect((await save({ name: "Free" }, { as: owner.credential })).problem.code).toBe("capability_required");
    expect((await save({ name: "Free" }, { as: agent.credential })).problem.code).toBe("forbidden");
  });

  it("404 for a schedule or an organization that does not exist", async () => {
    expect((await save({ name: "A", feeScheduleId: "fs_unknown" })).status).toBe(404);
    expect((await save({ name: "A", buyerOrganizationId: "org_unknown" })).status).toBe(404);
    expect((await save({ name: "A", sellerOrganizationId: "org_unknown" })).status).toBe(404);
  });

  it("replays one key without a second schedule", async () => {
    const first = await save({ name: "Once" }, { key: "s1" });
    const again = await save({ name: "Once" }, { key: "s1" });
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    expect((await save({ name: "Twice" }, { key: "s1" })).problem.code).toBe("idempotency_key_reused");
  });
});
