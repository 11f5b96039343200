import postgres from "postgres";
import { expect, test } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { ask, outcomes } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, createBuyer } from "#test/mandates.ts";

const databaseOf = useDatabase();
const HISTORY = 150;

type Scans = { readonly name: string; readonly scans: number; readonly read: number };

/** What was scanned so far of the tables that grow, by index and as a whole. A connection that ends has told all that it did. */
async function scans(): Promise<readonly Scans[]> {
  await closePools();
  const direct = postgres(databaseOf().url, { max: 1 });
  const tables = ["authorizations", "reservations", "mandate_ledger", "audit_events"];
  const rows = await direct<Scans[]>`
    SELECT indexrelname AS name, idx_scan::int AS scans, idx_tup_read::int AS read FROM pg_stat_user_indexes
    WHERE relname = ANY(${tables})
    UNION ALL SELECT relname, seq_scan::int, seq_tup_read::int FROM pg_stat_user_tables WHERE relname = ANY(${tables})`;
  await direct.end();
  return [...rows];
}

test("plans that were made while the tables were empty do not walk the history", async () => {
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
