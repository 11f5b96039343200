import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { filterMandates, liveMandates } from "#lib/pages/buyer/mandates/page-store.ts";
import { reading } from "#lib/mandates/store.ts";
import { viewLiveMandates, viewMandates } from "#lib/pages/buyer/view-mandates.ts";
import { MandateStatus } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, authorize, createBuyer, draftMandate, policy, type Buyer } from "#test/mandates.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

let buyer: Buyer;
const scope = () => ({ organizationId: buyer.organizationId, environment: "sandbox" });
const namesOf = ({ items }: { readonly items: readonly { readonly name: string }[] }) => items.map(({ name }) => name);
const setStatus = (mandateId: string, status: string) =>
  database().execute(sql`UPDATE mandates SET status = ${status} WHERE mandate_id = ${mandateId}`);

beforeAll(async () => {
  buyer = await createBuyer();
  const { credential } = buyer.person;
  await draftMandate(credential, { name: "draft" });
  await activeMandate(credential, { name: "active 100%" });
  await setStatus(await activeMandate(credential, { name: "suspended" }), "suspended");
  await setStatus(await activeMandate(credential, { name: "revoked" }), "revoked");
  await activeMandate(credential, { name: "expired", policy: { ...policy, validUntil: "2026-01-01T00:00:00.000Z" } });
  const small = { assets, limits: { perPayment: "0.5", total: "0.5" } };
  await authorize(buyer, await activeMandate(credential, { name: "exhausted", policy: small }));
});

describe("the list of mandates", () => {
  test("is newest first, page by page", async () => {
    const first = await viewMandates(scope(), { limit: 4 });
    expect(namesOf(first)).toEqual(["exhausted", "expired", "revoked", "suspended"]);
    const second = await viewMandates(scope(), { limit: 4, cursor: first.nextCursor });
    expect(namesOf(second)).toEqual(["active 100%", "draft"]);
    expect(second.hasMore).toBe(false);
  });

  test.each(MandateStatus.options)("filtered by %s contains the mandates with this status", async (status) => {
    const { items } = await viewMandates(scope(), { limit: 20, status });
    expect(items.map((one) => [one.name.split(" ")[0], one.status])).toEqual([[status, status]]);
  });

  test.each([
    ["SUSP", ["suspended"]],
    ["100%", ["active 100%"]],
    ["%", ["active 100%"]],
    ["_", []],
    ["nothing like it", []],
  ])("searched for %s", async (search, names) => {
    expect(namesOf(await viewMandates(scope(), { limit: 20, search }))).toEqual(names);
  });

  test("is empty for another organization", async () => {
    const { organizationId } = await createBuyer();
    expect(namesOf(await viewMandates({ organizationId, environment: "sandbox" }, { limit: 20 }))).toEqual([]);
  });

  test("for the home page has active, then suspended mandates, then drafts, with their usage", async () => {
    const mandates = await viewLiveMandates(scope(), 10);
    expect(mandates.map(({ name }) => name)).toEqual(["exhausted", "expired", "active 100%", "suspended", "draft"]);
    expect(mandates[0]?.usage).toMatchObject([{ window: "total", reserved: "0.5", available: "0" }]);
  });
});

test("the list is read by index among 20,000 mandates of 400 organizations", async () => {
  await database().execute(sql`
    INSERT INTO mandates (mandate_id, organization_id, environment, name, status, version, asset, chain, created_by)
    SELECT 'mdt_' || lpad(n::text, 26, '0'), 'org_' || n % 400, 'sandbox', 'Mandate ' || n, 'active', 1, 'USDC', 'eip155:84532', 'usr_x'
    FROM generate_series(1, 20000) n`);
  await database().execute(sql`
    INSERT INTO mandate_versions (mandate_id, version, policy, created_by)
    SELECT mandate_id, 1, '{"assets":[],"limits":{"total":"5"}}', 'usr_x' FROM mandates WHERE mandate_id LIKE 'mdt_000%'`);
  await reading(async (tx, now) => {
    const some = { organizationId: "org_7", environment: "sandbox" };
    const place = { now, limit: 21, place: "mdt_9" };
    const plans = [
      await planOf(filterMandates(tx, some, { status: "exhausted", search: "12" }, place) as never, [
        "mandates",
        "mandate_versions",
      ]),
      await planOf(liveMandates(tx, some, 5) as never, []),
    ];
    for (const { whole, indexes } of plans) {
      expect(whole).toEqual([]);
      expect(indexes).toContain("mandates_of_organization");
    }
  });
});
