import { beforeAll, describe, expect, inject, test } from "vitest";
import postgres from "postgres";
import { pool } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { functionsOf } from "#test/statements.ts";
import { judge, type Functions } from "./judge-statements.ts";

const databaseOf = useDatabase();

let functions: Functions;
beforeAll(async () => {
  functions = await functionsOf(databaseOf().url);
});

describe("a statement that not every engine takes is found", () => {
  test.each([
    ["clock_timestamp is volatile, in UPDATE", "UPDATE t SET at = clock_timestamp() + $1 * interval '1 second' WHERE id = $2"],
    ["clock_timestamp is volatile, in UPDATE", "UPDATE t SET a = 1 WHERE at < clock_timestamp()"],
    ["clock_timestamp is volatile, in UPDATE", "UPDATE t SET at = n.at FROM (SELECT clock_timestamp() AS at) n"],
    [
      "clock_timestamp is volatile, in UPDATE",
      "WITH n AS MATERIALIZED (SELECT 1), c AS (UPDATE t SET at = clock_timestamp()) SELECT 1",
    ],
    ["gen_random_uuid is volatile, in UPDATE", "UPDATE t SET id = gen_random_uuid()"],
    ["nextval is volatile, in UPDATE", "UPDATE t SET id = nextval('s')"],
    ["set_config is volatile, in UPDATE", "UPDATE t SET a = set_config('lock_timeout', '1s', true)"],
    ["random is volatile, in DELETE", "DELETE FROM t WHERE random() < 0.5"],
    [
      "clock_timestamp is volatile, in ON CONFLICT",
      "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET at = clock_timestamp()",
    ],
    ["random is volatile, in ON CONFLICT", "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1 WHERE t.a < random()"],
    ["now is not immutable, in ON CONFLICT", "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET at = CURRENT_TIMESTAMP"],
    [
      "an interval is added to a column, in ON CONFLICT",
      "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET at = excluded.at + interval '1 hour'",
    ],
    ["now is not immutable, in RETURNING", "UPDATE t SET a = 1 RETURNING now()"],
    ["now is not immutable, in CASE or COALESCE of UPDATE", "UPDATE t SET at = coalesce(at, now())"],
    ["now is not immutable, in CASE or COALESCE of UPDATE", "UPDATE t SET at = CASE WHEN a = 1 THEN now() END"],
    ["to_json is not immutable and reads a column, in UPDATE", "UPDATE t SET a = to_json(t.b)"],
    ["stop_over_domain is a function of the schema", "SELECT stop_over_domain(domain) FROM sellers"],
    ["pg_advisory_xact_lock (volatile) beside the table t", "SELECT pg_advisory_xact_lock(id) FROM t"],
    ["pg_advisory_xact_lock (volatile) beside the table t", "SELECT a FROM t, (SELECT pg_advisory_xact_lock(1)) l"],
    ["SKIP LOCKED in UPDATE", "UPDATE t SET a = 1 WHERE id IN (SELECT id FROM t LIMIT 1 FOR UPDATE SKIP LOCKED)"],
    ["SKIP LOCKED in DELETE", "DELETE FROM t WHERE ctid = ANY(ARRAY(SELECT ctid FROM t FOR UPDATE SKIP LOCKED))"],
  ])("%s: %s", async (fault, text) => {
    expect((await judge(text, functions)).faults).toEqual([fault]);
  });
});

test.each([
  "UPDATE t SET at = statement_timestamp() + $1 * interval '1 second' WHERE due <= statement_timestamp()",
  "UPDATE t SET at = (SELECT statement_timestamp() WHERE t.attempts > 3), a = lower(t.b) WHERE t.at - statement_timestamp() > interval '1 hour'",
  "UPDATE t SET at = CASE WHEN a IS NULL THEN at ELSE $1::timestamptz END",
  "INSERT INTO t (at) VALUES (clock_timestamp()) ON CONFLICT (id) DO UPDATE SET at = excluded.at WHERE excluded.at - t.at > interval '1 hour'",
  'update "t" set "at" = at - $1 * interval $2',
  "WITH m AS (INSERT INTO mails (at) SELECT clock_timestamp()) UPDATE t SET at = $1",
  "SELECT id, clock_timestamp() FROM t WHERE due < clock_timestamp() FOR UPDATE SKIP LOCKED",
  "SELECT pg_advisory_xact_lock(hashtextextended(w.id, 0)) FROM unnest($1::text[]) AS w(id)",
  "DELETE FROM t WHERE ctid = ANY($1::text[]::tid[])",
])("any engine takes: %s", async (text) => {
  expect((await judge(text, functions)).faults).toEqual([]);
});

test("a run notes each statement that the service sends once, whatever its parameters", async () => {
  for (const value of ["1", "2"]) await pool()`SELECT ${value}::int AS noted_once`;
  const { url, run } = inject("cluster");
  const noted = postgres(url, { max: 1 });
  const rows = run
    ? await noted`SELECT FROM pg_stat_statements WHERE query = 'SELECT $1::int AS noted_once'
        AND dbid = (SELECT oid FROM pg_database WHERE datname = ${databaseOf().name})`
    : [1];
  await noted.end();
  expect(rows).toHaveLength(1);
});
