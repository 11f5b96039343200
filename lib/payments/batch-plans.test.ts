import postgres from "postgres";
import { expect, test } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { ask, outcomes } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, CHAIN, createBuyer } from "#test/mandates.ts";

const databaseOf = useDatabase();
const HISTORY = 150;

type Scans = { readonly name: string; readonly scans: number; readonly read: number };

const history = ["authorizations", "changed_reservations", "resolutions", "audit_entries"];

/**
 * The number of scans of the tables that grow with each payment, by index and sequential. The pools are closed first, because a
 * connection reports its scans at the latest when it ends.
 */
async function scans(tables: readonly string[] = history): Promise<readonly Scans[]> {
  await closePools();
  const direct = postgres(databaseOf().url, { max: 1 });
  const others = () => direct`
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  await expect.poll(others).toHaveLength(0);
  const rows = await direct<Scans[]>`
    SELECT indexrelname AS name, idx_scan::int AS scans, idx_tup_read::int AS read FROM pg_stat_user_indexes
    WHERE relname = ANY(${tables})
    UNION ALL SELECT relname, seq_scan::int, seq_tup_read::int FROM pg_stat_user_tables WHERE relname = ANY(${tables})`;
  await direct.end();
  return [...rows];
}

test("plans that were made while the tables were empty do not scan all rows later", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential, {
    policy: {
      assets,
      limits: { perPayment: "0.5", total: "1000", budgets: [{ period: "day", timezone: "UTC", amount: "500" }] },
    },
  });
  await closePools();
  for (let asked = 0; asked < HISTORY; asked += 1) expect(outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
  const after = await scans();
  expect(after.find(({ name }) => name === "authorizations_slot")?.scans).toBeGreaterThanOrEqual(HISTORY);
  expect(after.filter(({ scans, read }) => read > 3 * scans + 10)).toEqual([]);
});

const MANY = 3_000;

test("emergency stops, remembered offers, proofs and waivers of many sellers are read by index, one by one", async () => {
  const buyer = await createBuyer();
  const shop = "shop.example.com";
  const payTo = `0x${"5e".repeat(20)}`;
  const token = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
  const direct = postgres(databaseOf().url, { max: 1 });
  // With statistics, another index of seen_offers may do as well.
  await direct`ALTER TABLE seen_offers SET (autovacuum_enabled = off)`;
  await direct`INSERT INTO seller_stops (kind, value, seller_id, proven, subdomains)
    SELECT CASE WHEN n % 2 = 0 THEN 'domain' ELSE 'address' END, 'x' || n || '.example.com', 'sel_' || n, n % 3 = 0, true FROM generate_series(1, ${MANY}::int) n`;
  await direct`INSERT INTO seen_offers (domain, pay_to, chain, token_address, amount, url, seen_at)
    SELECT 'x' || n || '.example.com', ${payTo}, ${CHAIN}, ${token}, n, 'https://x', clock_timestamp() FROM generate_series(1, ${MANY}::int) n
    UNION ALL SELECT ${shop}, ${payTo}, ${CHAIN}, ${token}, 500000, 'https://x', clock_timestamp()`;
  await direct`INSERT INTO waivers (waiver_id, organization_id, environment, mandate_id, policy_version, authorization_id, subject_id,
      basket_hash, charged, pay_to, granted_by_subject_id, expires_at)
    SELECT 'wai_' || n, 'org_1', 'sandbox', 'mnd_' || n, 1, 'auth_' || n, 'sa_1', 'x', 1, 'x', 'usr_1',
      clock_timestamp() + interval '1 hour' FROM generate_series(1, ${MANY}::int) n`;
  await direct`INSERT INTO pay_to_proofs (organization_id, address, chain, method, seller_id, proven_by)
    SELECT 'org_' || n, 'x' || n, '', 'signature', 'sel_' || n, 'usr_1' FROM generate_series(1, ${MANY}::int) n`;
  await direct.end();
  const policy = { assets, limits: { perPayment: "1", total: "1000" } };
  const mandateId = await activeMandate(buyer.person.credential, { policy });
  const rules = { sellers: { unregistered: "allow" }, domains: { allow: [shop] } };
  const byDomain = await activeMandate(buyer.person.credential, { policy: { ...policy, ...rules } });
  const extra = { name: "USDC", version: "2" };
  const offer = { scheme: "exact", network: CHAIN, amount: "500000", asset: token, payTo, maxTimeoutSeconds: 60, extra };
  const challenge = { x402Version: 2, resource: { url: `https://${shop}/report` }, accepts: [offer] };
  const stranger = { seller: {}, resource: undefined, chain: CHAIN, payTo, challenge };
  const tables = ["seller_stops", "seen_offers", "pay_to_proofs", "waivers"];
  const before = await scans(tables);
  for (let asked = 0; asked < 20; asked += 1) {
    expect(outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
    expect(outcomes([await ask(buyer, byDomain, stranger)])).toEqual({ allow: 1 });
  }
  const read = (all: readonly Scans[], name: string, what: "scans" | "read") => all.find((one) => one.name === name)?.[what] ?? 0;
  const after = await scans(tables);
  const done = after.map(({ name, ...now }) => ({
    name,
    scans: now.scans - read(before, name, "scans"),
    read: now.read - read(before, name, "read"),
  }));
  expect(done.filter(({ scans, read }) => read > 3 * scans + 10)).toEqual([]);
  for (const index of ["seller_stops_kind_value_seller_id_pk", "seen_offers_domain_pay_to_chain_token_address_amount_pk"])
    expect(done.find(({ name }) => name === index)?.scans).toBeGreaterThanOrEqual(10);
});
