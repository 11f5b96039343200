import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { firstIdAt, newId } from "#lib/ids.ts";
import { reading } from "#lib/mandates/store.ts";
import { firstDay } from "#lib/pages/days.ts";
import { spendingDays } from "#lib/pages/buyer/spending/spending.ts";
import { selectSpending } from "#lib/pages/buyer/spending/store.ts";
import { viewSpending } from "#lib/pages/buyer/view-spending.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer } from "#test/mandates.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

const DAY_MS = 86_400_000;
const now = new Date("2026-11-21T12:00:00.000Z");
const coin = { asset: "USDC", chain: "eip155:84532" };

async function spend(organizationId: string, mandateId: string, amount: number, daysAgo: number, kind = "capture") {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  const authorizationId = newId("authorization");
  await database().execute(sql`
    INSERT INTO resolutions (ledger_id, organization_id, mandate_id, authorization_id, kind, amount, created_at)
    VALUES (${firstIdAt("ledger", at).slice(0, -8) + authorizationId.slice(-8)}, ${organizationId}, ${mandateId}, ${authorizationId}, ${kind}, ${amount}, ${at.toISOString()})`);
  return authorizationId;
}

async function approved(organizationId: string, authorizationId: string): Promise<void> {
  await database().execute(sql`
    INSERT INTO checkout_approvals (approval_id, checkout_intent_id, organization_id, status, approved_at, approved_by_subject_id,
      agent_id, approval_surface, approved_basket_hash, approved_amount, approved_asset, approved_chain, approved_pay_to,
      authorization_id, expires_at)
    VALUES (${newId("approval")}, ${newId("checkoutIntent")}, ${organizationId}, 'consumed', clock_timestamp(), 'usr_x', 'sa_x',
      'service_hosted_confirmation', 'x', 1, 'USDC', 'eip155:84532', '0x1', ${authorizationId}, clock_timestamp())`);
}

describe("spending by day", () => {
  test("has the 30 days until today, also days without a payment", () => {
    const rows = [
      { day: "2026-11-21", ...coin, countersigned: false, amount: "5", payments: 2 },
      { day: "2026-11-21", ...coin, countersigned: true, amount: "7", payments: 1 },
      { day: "2026-10-01", ...coin, countersigned: true, amount: "99", payments: 1 },
    ];
    const days = spendingDays(rows, now, 30);
    expect(days).toHaveLength(30);
    expect(days[0]).toEqual({ day: "2026-10-23", byAgents: 0n, countersigned: 0n, payments: 0 });
    expect(days.at(-1)).toEqual({ day: "2026-11-21", byAgents: 5n, countersigned: 7n, payments: 3 });
  });

  test.each([
    ["2026-11-21T12:00:00.000Z", "2026-10-23T00:00:00.000Z"],
    ["2026-12-31T23:59:00.000Z", "2026-12-01T00:00:00.000Z"],
  ])("at %s reads from %s on: all days of the month, and the last 30 days", (at, since) => {
    expect(firstDay(new Date(at), 30).toISOString()).toBe(since);
  });

  test("counts settled payments, shows which a person approved, and leaves out open holds and other organizations", async () => {
    const buyer = await createBuyer();
    const { organizationId } = buyer;
    const mandateId = await activeMandate(buyer.person.credential);
    await spend(organizationId, mandateId, 1_500_000, 0);
    await spend(organizationId, mandateId, 250_000, 0, "overrun");
    await approved(organizationId, await spend(organizationId, mandateId, 2_000_000, 3));
    await spend(organizationId, mandateId, 9_000_000, 1, "release");
    await spend(organizationId, mandateId, 9_000_000, 40);
    await authorize(buyer, mandateId, "0.5");
    const other = await createBuyer();
    await spend(other.organizationId, await activeMandate(other.person.credential), 8_000_000, 0);

    const [spending, ...more] = await viewSpending({ organizationId, environment: "sandbox" });
    expect(more).toEqual([]);
    expect(spending).toMatchObject({ ...coin, today: "1.75", held: "0.5" });
    expect(spending?.days).toHaveLength(30);
    expect(spending?.days.at(-1)).toMatchObject({ byAgents: "1.75", countersigned: "0", total: "1.75" });
    expect(spending?.days.at(-4)).toMatchObject({ byAgents: "0", countersigned: "2", total: "2" });
  });

  test("is empty before there is a mandate", async () => {
    const { organizationId } = await createBuyer();
    expect(await viewSpending({ organizationId, environment: "sandbox" })).toEqual([]);
  });

  test("reads the ledger by index among 40,000 entries of 400 mandates", async () => {
    await database().execute(sql`
      INSERT INTO mandates (mandate_id, organization_id, environment, name, status, version, asset, chain, created_by)
      SELECT 'mdt_' || n, 'org_' || n % 100, 'sandbox', 'M', 'active', 1, 'USDC', 'eip155:84532', 'usr_x' FROM generate_series(1, 400) n`);
    await database().execute(sql`
      INSERT INTO resolutions (ledger_id, organization_id, mandate_id, authorization_id, kind, amount)
      SELECT 'led_01z' || lpad(n::text, 23, '0'), 'org_' || n % 100, 'mdt_' || 1 + n % 400, 'aut_' || n, 'capture', 1
      FROM generate_series(1, 40000) n`);
    const scope = { organizationId: "org_7", environment: "sandbox" };
    const plan = await reading((tx) =>
      planOf(selectSpending(tx, scope, new Date(Date.now() - 30 * DAY_MS)), ["mandates", "resolutions"]),
    );
    expect(plan.whole).not.toContain("resolutions");
    expect(plan.indexes).toContain("resolutions_of_mandate");
  });
});
