import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { describe, expect, test } from "vitest";
import { closePools, pool } from "#lib/db/client.ts";
import { migrate, schemaIsCurrent } from "#lib/db/migrate.ts";
import { createDatabase, useDatabase } from "#test/database.ts";
import journal from "../../drizzle/meta/_journal.json" with { type: "json" };

const database = useDatabase();

describe("migrate", () => {
  test("two processes that start at once apply every migration once", async () => {
    const empty = await createDatabase({ empty: true });
    const counts = await Promise.all([1, 2].map(() => migrate({ url: empty.url, environment: "sandbox" })));
    expect(counts.toSorted()[0]).toBe(0);
    expect(counts.toSorted()[1]).toBeGreaterThan(0);
    expect(await migrate({ url: empty.url, environment: "sandbox" })).toBe(0);
    await empty.drop();
  });

  test("a database belongs to one environment", async () => {
    await expect(migrate({ url: database().url, environment: "production" })).rejects.toThrow(
      /belongs to the sandbox environment and ENVIRONMENT is production/,
    );
  });

  test.each([
    ["changed", "hash = 'other'"],
    ["made again", "created_at = created_at - 1"],
  ])("a migration that was %s after it was applied is refused", async (_, change) => {
    const other = await createDatabase();
    const sql = postgres(other.url, { max: 1 });
    await sql.unsafe(`UPDATE drizzle.__drizzle_migrations SET ${change} WHERE id = 1`);
    await sql.end();
    await expect(migrate({ url: other.url, environment: "sandbox" })).rejects.toThrow(/only go forward/);
    await other.drop();
  });

  test("a migration that fails changes nothing", async () => {
    const other = await createDatabase({ empty: true });
    const sql = postgres(other.url, { max: 1 });
    await sql`CREATE TABLE installation (in_the_way int)`;
    await expect(migrate({ url: other.url, environment: "sandbox" })).rejects.toThrow(/already exists/);
    expect(await sql`SELECT 1 FROM pg_tables WHERE tablename = 'mandates'`).toHaveLength(0);
    await sql.end();
    await other.drop();
  });
});

/** A folder with the migrations up to this one. */
async function migrationsUntil(tag: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-migrations-"));
  await cp("drizzle", folder, { recursive: true });
  const entries = journal.entries.slice(0, journal.entries.findIndex((entry) => entry.tag === tag) + 1);
  await writeFile(join(folder, "meta/_journal.json"), JSON.stringify({ ...journal, entries }));
  return folder;
}

describe("0034_decisions_as_data", () => {
  test("refuses a database that has decisions in text, and changes nothing in it", async () => {
    const other = await createDatabase({ empty: true });
    const folder = await migrationsUntil("0033_signature_hash");
    await migrate({ url: other.url, environment: "sandbox", folder });
    const sql = postgres(other.url, { max: 1 });
    await sql`INSERT INTO authorizations (authorization_id, organization_id, environment, mandate_id, policy_version, subject_id,
      policy_decision_id, intent_id, nonce, outcome, intent, slot, fingerprint, reasons, amount, buyer_share, seller_share, asset, chain,
      settlement_mode, max_timeout_seconds, expires_at) VALUES ('aut_1', 'org_1', 'sandbox', 'mdt_1', 1, 'sa_1', 'pd_1', 'i', 'n', 'deny',
      '{}', 's', 'f', '[]', 1, 0, 0, 'USDC', 'eip155:84532', 'offchainAuthorized', 60, now())`;
    await expect(migrate({ url: other.url, environment: "sandbox" })).rejects.toThrow(/Start with an empty database/);
    expect(await sql`SELECT reasons FROM authorizations`).toHaveLength(1);
    await sql.end();
    await other.drop();
    await rm(folder, { recursive: true });
  });
});

describe("schemaIsCurrent", () => {
  test("a migrated database is current, one without the newest migration is not", async () => {
    expect(await schemaIsCurrent()).toBe(true);
    await pool()`DELETE FROM drizzle.__drizzle_migrations WHERE id = (SELECT max(id) FROM drizzle.__drizzle_migrations)`;
    expect(await schemaIsCurrent()).toBe(false);
    await closePools();
  });
});

describe("the guards", () => {
  test.each(["audit_events", "mandate_ledger"])("%s refuses TRUNCATE", async (table) => {
    const sql = postgres(database().url, { max: 1 });
    await expect(sql.unsafe(`TRUNCATE ${table}`)).rejects.toThrow(/append-only/);
    await sql.end();
  });
});

describe("who_may_be_paid", () => {
  test("an earlier stop applies to its domain, with and without www, and to its addresses", async () => {
    const other = await createDatabase({ empty: true });
    const folder = await migrationsUntil("0022_shorter_rows");
    await migrate({ url: other.url, environment: "sandbox", folder });
    const sql = postgres(other.url, { max: 1 });
    const level = { minimum_assurance_level: "softwareApproved" };
    const seller = { organization_id: "org_1", environment: "sandbox", name: "Shop", ...level };
    const stopped_at = "2026-11-22T12:00:00.000Z";
    await sql`INSERT INTO sellers ${sql([
      { ...seller, seller_id: "sel_1", domain: "www.evil.example.com", verified: true, stopped_at },
      { ...seller, seller_id: "sel_2", domain: "www.com", verified: false, stopped_at },
      { ...seller, seller_id: "sel_3", domain: "good.example.com", verified: true, stopped_at: null },
    ])}`;
    const resource = { organization_id: "org_1", method: "GET", path_template: "/", pricing: "{}", configuration_source: "api" };
    const accepted = { accepted_payment_challenge_types: ["x402"], ...level };
    await sql`INSERT INTO resources ${sql([
      { ...resource, ...accepted, seller_id: "sel_1", resource_id: "one", pay_to: "0xaa" },
      { ...resource, ...accepted, seller_id: "sel_1", resource_id: "two", pay_to: "0xaa" },
      { ...resource, ...accepted, seller_id: "sel_3", resource_id: "one", pay_to: "0xbb" },
    ])}`;
    await migrate({ url: other.url, environment: "sandbox" });
    const rows = await sql`SELECT kind, value, seller_id, proven, subdomains FROM seller_stops ORDER BY seller_id, kind, value`;
    expect(rows.map(({ kind, value, proven, subdomains }) => [kind, value, proven, subdomains])).toEqual([
      ["address", "0xaa", false, false],
      ["domain", "evil.example.com", true, false],
      ["domain", "www.evil.example.com", true, true],
      ["domain", "www.com", false, true],
    ]);
    const [over] =
      await sql`SELECT stop_over_domain('evil.example.com') AS bare, stop_over_domain('a.b.www.evil.example.com') AS below,
      stop_over_domain('b.evil.example.com') AS beside, stop_over_domain('x.www.com') AS claimed, stop_over_domain('other.com') AS other`;
    expect(over).toEqual({ bare: "proven", below: "proven", beside: null, claimed: "claimed", other: null });
    await sql.end();
    await other.drop();
  });
});
