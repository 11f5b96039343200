import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database, pool } from "#lib/db/client.ts";
import { user } from "#lib/identity/tables.ts";
import { listUsers } from "#lib/platform/list-users.ts";
import * as contract from "#lib/platform/contract.ts";
import { useDatabase } from "#test/database.ts";
import { ban, createOfficial, type Official } from "#test/platform.ts";
import { createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

const list = ({ credential }: Official, query = "") => send(contract.listUsers, listUsers, { as: credential, query });

async function named(name: string, email: string): Promise<string> {
  const { userId } = await createPerson(await createOrganization());
  await database().update(user).set({ name, email }).where(eq(user.id, userId));
  return userId;
}

describe("listUsers", () => {
  test("newest first, page by page, each person once", async () => {
    const support = await createOfficial("support");
    for (let count = 0; count < 4; count += 1) await named(`Page ${count}`, `page-${count}@example.com`);
    const first = (await list(support, "?limit=3")).data;
    const second = (await list(support, `?limit=3&cursor=${first.nextCursor}`)).data;
    const ids = [...first.items, ...second.items].map(({ userId }) => userId);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
    expect([first.hasMore, first.items[0]?.email]).toEqual([true, "page-3@example.com"]);
  });

  test("finds by the start of name or address in any case, and by id; a percent sign is not a wildcard", async () => {
    const support = await createOfficial("support");
    const userId = await named("Zoë Quast", "zq@lab.example");
    const found = async (search: string) =>
      (await list(support, `?search=${encodeURIComponent(search)}`)).data.items.map((one) => one.userId);
    for (const search of ["zoë q", "ZQ@lab", userId]) expect(await found(search)).toEqual([userId]);
    for (const search of ["%", "_q@lab", "quast"]) expect(await found(search)).toEqual([]);
  });

  test("filters by role and by a current ban", async () => {
    const operator = await createOfficial("operator");
    const auditor = await createOfficial("auditor");
    const { userId } = await createPerson(await createOrganization());
    await ban(operator, userId);
    const late = await createPerson(await createOrganization());
    await database()
      .update(user)
      .set({ banned: true, banExpires: new Date(0) })
      .where(eq(user.id, late.userId));
    expect((await list(operator, "?role=auditor")).data.items.map((one) => one.userId)).toEqual([auditor.userId]);
    expect((await list(operator, "?banned=true")).data.items.map((one) => one.userId)).toEqual([userId]);
  });

  test("400 points at an unknown role and an invalid cursor", async () => {
    const support = await createOfficial("support");
    expect((await list(support, "?role=user")).problem.errors?.[0]?.pointer).toBe("/query/role");
    expect((await list(support, "?cursor=x")).problem.errors?.[0]?.pointer).toBe("/query/cursor");
  });

  test("a search uses its indexes", async () => {
    await pool()`INSERT INTO "user" (id, name, email) SELECT 'usr_many' || n, 'Many ' || n, 'many' || n || '@example.com' FROM generate_series(1, 5000) n`;
    await pool()`ANALYZE "user"`;
    const plan =
      await pool()`EXPLAIN SELECT * FROM "user" WHERE id = 'x' OR lower(email) LIKE 'many77%' OR lower(name) LIKE 'many77%'
      ORDER BY id DESC LIMIT 21`;
    expect(JSON.stringify(plan)).not.toContain("Seq Scan");
  });
});
