import { desc } from "drizzle-orm";
import { bigint, boolean, pgTable, text } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { bulkInsert, givenRows, joined } from "#lib/db/bulk.ts";
import { hashBytes, moment } from "#lib/db/columns.ts";
import { columnsOf } from "#lib/db/rows.ts";
import { database, pool } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";

type Kept = {
  readonly id: string | null;
  readonly size: number | null;
  readonly note: string | null;
  readonly facts: string | null;
  readonly answer: string;
};

const insert = bulkInsert<Kept>("bulk_kept", [
  ["id", "id", (row) => row.id],
  ["size", "int", (row) => row.size?.toString() ?? null],
  ["note", "text", (row) => row.note],
  ["facts", "json", (row) => row.facts],
  ["answer", "json text", (row) => row.answer],
]);

useDatabase();

describe("bulkInsert", () => {
  test("writes every text and every JSON unchanged", async () => {
    await pool()`CREATE TABLE bulk_kept (id text, size int, note text, facts json, answer text)`;
    const hostile = 'a "b", {c} \\ \n \u0001 \u0002 NULL é 𝔸';
    const rows = [
      {
        id: "a-1",
        size: 1,
        note: null,
        facts: JSON.stringify({ text: hostile, list: [1, null, ""] }),
        answer: JSON.stringify(hostile),
      },
      { id: null, size: null, note: hostile, facts: null, answer: "{}" },
      { id: "c, {d}", size: -3, note: "", facts: "null", answer: '""' },
    ];
    for (const list of [rows, ...rows.map((row) => [row])]) {
      await pool()`TRUNCATE bulk_kept`;
      await insert(pool(), list);
      expect(await pool()`SELECT id, size, note, facts::text, answer FROM bulk_kept`).toEqual(list);
    }
  });

  test.each(["a\u0001b", "\u0002", ""])("refuses the id %j, which would be read as an id of another row", (id) => {
    const row = { id, size: 1, note: null, facts: null, answer: "{}" };
    expect(() => insert(pool(), [row])).toThrow(/An id/);
  });
});

const wide = pgTable("bulk_wide", {
  id: text("id"),
  facts: text("facts"),
  at: moment("at"),
  held: boolean("held").notNull(),
  size: bigint("size", { mode: "number" }).notNull(),
  hash: hashBytes("hash"),
});

describe("givenRows", () => {
  test("writes every id and every JSON unchanged, beside columns that it does not know", async () => {
    await pool()`
      CREATE TABLE bulk_wide (id text, of_a_newer_release text, facts text, at timestamptz(3), held boolean, size bigint, hash bytea)`;
    const own = columnsOf<typeof wide.$inferSelect, typeof wide>(
      wide,
      {
        facts: (row) => row.facts,
        id: (row) => row.id,
        at: (row) => row.at,
        held: (row) => row.held,
        size: (row) => row.size,
        hash: (row) => row.hash,
      },
      ["facts"],
    );
    const rows = givenRows("given", own);
    const ids = ["a", " b ", 'c"d', "e\\f", "(g,h)", "é 𝔸", "null", "NULL", "\\N", "'", "i\nj", null];
    const list = ids.map((id, size) => ({
      id,
      facts: id === null ? null : JSON.stringify({ id, other: 'a "b" \\ \u0001' }),
      at: size % 2 === 0 ? null : new Date(1_795_564_800_123),
      held: size % 3 === 0,
      size: 1 - size,
      hash: size % 2 === 0 ? "00ff5c22" : null,
    }));
    await pool().unsafe(`INSERT INTO bulk_wide (${rows.names}) SELECT ${rows.names} FROM ${rows.source}`, rows.values(list));
    expect(await database().select().from(wide).orderBy(desc(wide.size))).toEqual(list);
    for (const id of ["a\u0001b", "\u0002", "a\u0003", ""]) expect(() => rows.values([{ ...list[0]!, id }])).toThrow(/An id/);
  });
});

describe("joined", () => {
  test.each([[[]], [["a"]], [["a", "", "b c"]], [["", "a"]], [["é, {d}", "\u0002"]]])(
    "%j is read unchanged",
    async (texts: string[]) => {
      const [row] = await pool()`SELECT string_to_array(${joined(texts)}, chr(1)) AS texts`;
      expect(row?.["texts"]).toEqual(texts);
    },
  );

  test("looking up one empty text finds nothing, and a text with the separator is refused", async () => {
    const [row] = await pool()`SELECT string_to_array(${joined([""])}, chr(1)) AS texts`;
    expect(row?.["texts"]).toEqual([]);
    expect(() => joined(["a", "b\u0001c"])).toThrow(/control character/);
  });
});
