import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeCursor, encodeCursor, page, PageQuery } from "#lib/http/paging.ts";
import { isProblem } from "#lib/problem.ts";

describe("paging", () => {
  test("the pages contain every row once, in order, with any limit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 25 }), (count, limit) => {
        const rows = Array.from({ length: count }, (_, index) => `id_${String(count - index).padStart(3, "0")}`);
        const met: string[] = [];
        let after: string | null = null;
        for (let turn = 0; turn <= count; turn += 1) {
          const rest: string[] = rows.filter((row) => after === null || row < after).slice(0, limit + 1);
          const cut = page(rest, limit, (row) => row);
          met.push(...cut.items);
          expect(cut.hasMore).toBe(cut.nextCursor !== undefined);
          if (!cut.hasMore) break;
          after = decodeCursor(cut.nextCursor);
        }
        expect(met).toEqual(rows);
      }),
    );
  });

  test("400 points at an invented cursor", () => {
    for (const cursor of ["x", "MTo", `${encodeCursor("aud_1")}=`, Buffer.from("1:a b").toString("base64url")]) {
      const refused = () => decodeCursor(cursor);
      expect(refused).toThrow();
      try {
        refused();
      } catch (error) {
        expect(isProblem(error) && error.details.errors?.[0]?.pointer).toBe("/query/cursor");
      }
    }
  });

  test("a limit outside 1 to 100 is refused and 20 is the default", () => {
    expect(PageQuery.parse({}).limit).toBe(20);
    expect(PageQuery.parse({ limit: "100" }).limit).toBe(100);
    for (const limit of ["0", "101", "-1", "1.5", "ten", ""]) expect(PageQuery.safeParse({ limit }).success).toBe(false);
  });
});
