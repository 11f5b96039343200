import { describe, expect, test } from "vitest";
import { database, pool } from "#lib/db/client.ts";
import { forgetOldSessions } from "#lib/identity/sessions/forget-old-sessions.ts";
import { session, verification } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson } from "#test/identity.ts";

useDatabase();

describe("forgetOldSessions", () => {
  test("deletes any number of ended sessions and tokens, and keeps valid ones", async () => {
    const { userId } = await newPerson();
    await pool()`
      INSERT INTO session (id, user_id, token, expires_at)
      SELECT 'old' || n, ${userId}, 'old' || n, clock_timestamp() - interval '1 second' FROM generate_series(1, 2500) n`;
    const row = { identifier: "magic-link:x", value: "{}" };
    await database()
      .insert(verification)
      .values([
        { ...row, id: "ver_live", expiresAt: new Date(Date.now() + 60_000) },
        { ...row, id: "ver_ended", expiresAt: new Date(Date.now() - 60_000) },
      ]);
    expect(await forgetOldSessions()).toBe(2_501);
    expect(await database().select({ userId: session.userId }).from(session)).toEqual([{ userId }]);
    expect(await database().select({ id: verification.id }).from(verification)).toEqual([{ id: "ver_live" }]);
    expect(await forgetOldSessions()).toBe(0);
  });
});
