import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { expansions, notNullSecond } from "./planted.ts";
import { Installation, type Order } from "./side-by-side.ts";

type Sql = postgres.Sql;

/** What a copied row has in place of the value of the real row. `n` is the number of the copy. */
const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mandates: { mandate_id: "'mdt_' || n", organization_id: "'org_copied'" },
  authorizations: {
    authorization_id: "'aut_' || n",
    organization_id: "'org_copied'",
    mandate_id: "'mdt_' || n % 1000",
    intent_id: "n",
    nonce: "n",
    slot: "'copied ' || n",
    sequence: "n",
    expires_at: "now() + interval '1 day'",
  },
};

/** Copies one row of the table with new keys until it has so many rows. */
export async function fill(sql: Sql, table: string, rows: number): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped`;
  const names = columns.map(({ name }) => name);
  const values = names.map((name) => changes[table]?.[name] ?? name);
  await sql.unsafe(`INSERT INTO ${table} (${names.join()}) SELECT ${values.join()}
    FROM (SELECT * FROM ${table} LIMIT 1) AS one, generate_series(1, ${rows}) AS n`);
  await sql.unsafe(`VACUUM ANALYZE ${table}`);
}

const rounded = (ms: number): string => `${Math.round(ms).toLocaleString("en")} ms`;

/** Says how long each planted migration takes on tables with so many rows, and how long payments wait meanwhile. */
export async function tellLockTimes(order: Order, rows: number): Promise<void> {
  const { old, next, say, databaseUrl } = order;
  const on = await Installation.open(order);
  await on.start(old);
  await on.during(() => pause(1_000));
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  for (const table of Object.keys(changes)) await fill(sql, table, rows);
  await sql.end();
  const usual = await on.during(() => pause(5_000));
  const count = `${rows.toLocaleString("en")} rows`;
  say(
    `With ${count} in each of ${Object.keys(changes).join(" and ")}, the slowest payment of 5 s took ${rounded(usual.slowestMs)}.`,
  );
  const applied: Record<string, string> = {};
  for (const [tag, text] of Object.entries({ ...expansions, ...notNullSecond(next.version) })) {
    applied[tag] = text;
    const { tookMs, slowestMs, refused } = await on.during(() => on.migrate(applied, old));
    const waited = `the slowest payment meanwhile took ${rounded(slowestMs)}, and ${refused || "none"} got 503`;
    say(`${tag}: the migration took ${rounded(tookMs)}, ${waited}.`);
  }
  await on.close();
}
