import { describe, expect, test } from "vitest";
import { bulkInsert } from "#lib/db/bulk.ts";
import { pool } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";

type Kept = { readonly id: string; readonly note: string | null; readonly facts: string };

const insert = bulkInsert<Kept>("bulk_kept", [
  ["id", "text", (row) => row.id],
  ["note", "text", (row) => row.note],
  ["facts", "json", (row) => row.facts],
]);

useDatabase();

describe("bulkInsert", () => {
  test("writes quotes, braces, commas, backslashes, line ends and null as they are", async () => {
    await pool()`CREATE TABLE bulk_kept (id text, note text, facts json)`;
    const facts = JSON.stringify({ text: 'a "b", {c} \\ \n \u0001 \u0002 é 𝔸', list: [1, null, ""] });
    const rows = [
      { id: "NULL", note: null, facts },
      { id: '{"x",}', note: "\\N\n\t'\"", facts: "{}" },
      { id: "c", note: "", facts: "null" },
    ];
    const c = await pool().reserve();
    await insert(c, rows);
    const read = await c`SELECT id, note, facts::text FROM bulk_kept`;
    c.release();
    expect(read).toEqual(rows);
  });

  test("refuses a text that holds the separator, and an only text that is empty", async () => {
    const c = await pool().reserve();
    expect(() => insert(c, [{ id: "a\u0001b", note: null, facts: "{}" }])).toThrow("The column id");
    expect(() => insert(c, [{ id: "", note: null, facts: "{}" }])).toThrow("The column id");
    c.release();
  });
});
