import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { followRequest, lostDatabase } from "#lib/db/request.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

test("a lost database is noted for the request that sent the statement, not for the one that opened the connection", async () => {
  await followRequest(async () => {
    await database().execute(sql`SELECT 1`);
    await followRequest(async () => {
      const away = database().execute(sql`DO $$ BEGIN RAISE 'away' USING ERRCODE = '57P03'; END $$`);
      await expect(away).rejects.toThrow("Failed query");
      expect(lostDatabase()).toMatchObject({ code: "57P03" });
    });
    expect(lostDatabase()).toBeNull();
  });
});
