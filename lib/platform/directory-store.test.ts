import { sql } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { selectOrganizations, selectSellers, selectSubscriptions } from "#lib/platform/directory-store.ts";
import { selectUnderWay } from "#lib/platform/emergency-store.ts";
import { countOpen, selectUnknown } from "#lib/platform/health-store.ts";
import { useDatabase } from "#test/database.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

beforeAll(async () => {
  await database().execute(sql`INSERT INTO organization (id, name, slug, environment, product_roles)
    SELECT 'org_' || to_char(i, 'FM000000'), 'Name ' || i, 'slug-' || i, 'sandbox', '{buyer}' FROM generate_series(1, 20000) i`);
  await database().execute(sql`INSERT INTO subscriptions
      (subscription_id, organization_id, plan_id, tier, status, current_period_start, current_period_end)
    SELECT 'sub_' || id, id, 'plan', 'tier', 'active', now(), now() + interval '1 month' FROM organization`);
  await database().execute(sql`INSERT INTO sellers
      (seller_id, organization_id, environment, name, domain, verified, stopped_at, minimum_assurance_level)
    SELECT 'sel_' || id, id, 'sandbox', 'Shop', id || '.example', id < 'org_010000',
      CASE WHEN id > 'org_019000' THEN now() END, 'softwareApproved' FROM organization`);
  await database().execute(sql`
    INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode,
      settlement_status, amount, asset, chain)
    SELECT 'exe_' || i, 'aut_' || i, 'org', 'sandbox', 'mdt', 'sa', 'offchainAuthorized', 'settled', 1, 'USDC', 'eip155:1'
    FROM generate_series(1, 20000) i`);
});

const tables = ["organization", "subscriptions", "sellers"];

test.each([
  ["organizations", () => selectOrganizations(undefined, null, 21)],
  ["organizations, a later page", () => selectOrganizations(undefined, "org_010000", 21)],
  ["organizations, searched", () => selectOrganizations("slug-1234", null, 21)],
  ["sellers to verify", () => selectSellers("sandbox", "unverified", null, 21)],
  ["sellers that are verified", () => selectSellers("sandbox", "verified", null, 21)],
  ["sellers that were stopped, a later page", () => selectSellers("sandbox", "stopped", "sel_org_019500", 21)],
  ["subscriptions", () => selectSubscriptions(null, 21)],
  ["subscriptions, a later page", () => selectSubscriptions("org_010000", 21)],
] as const)("the list of %s scans no whole table", async (_name, query) => {
  const { whole, indexes } = await planOf(query(), tables);
  expect(whole).toEqual([]);
  expect(indexes).not.toEqual([]);
});

test.each([
  ["the open payments of a mandate", () => selectUnderWay(database(), { kind: "mandate", id: "mdt" }, 11)],
  ["the open payments of an agent", () => selectUnderWay(database(), { kind: "agent", id: "sa" }, 11)],
  ["the open payments of a seller", () => selectUnderWay(database(), { kind: "seller", id: "sel" }, 11)],
  [
    "the open payments at the domain of a seller",
    () =>
      selectUnderWay(database(), { kind: "seller", id: "sel" }, 11, [
        { kind: "domain", value: "shop.example.com", proven: true, subdomains: true },
      ]),
  ],
  ["the number of open payments", () => countOpen()],
  ["payments with an unknown outcome", () => selectUnknown(21)],
] as const)("%s are found among many settled ones by an index of few rows", async (_name, query) => {
  const { whole, indexes } = await planOf(query(), ["executions"]);
  expect(whole).not.toContain("executions");
  expect(indexes).toContain("executions_due");
});
