import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { hashSetupCode } from "#lib/installation/setup-code.ts";
import { installation } from "#lib/installation/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson } from "#test/identity.ts";
import { runServer } from "#test/running-server.ts";

const own = useDatabase();
const CODE = "7K2M-9QXR-4V6T-8WYZ-1A3B-5CDE";

test("/claim takes the set-up code of whoever has signed in, until the platform has its first admin", async () => {
  const { credential } = await newPerson();
  await database()
    .update(installation)
    .set({ claimedAt: null, setupCodeHash: hashSetupCode(CODE) });
  const server = await runServer({ DATABASE_URL: own().url }, { pages: true });
  const open = async (headers: HeadersInit = {}) => {
    const reply = await fetch(`${server.url}/claim`, { headers, redirect: "manual" });
    return { status: reply.status, to: reply.headers.get("location"), text: await reply.text() };
  };
  const stranger = await open();
  expect([stranger.status, stranger.to]).toEqual([307, "/sign-in?returnTo=%2Fclaim"]);
  expect((await open(credential)).text).toContain('name="setupCode"');
  const { origin } = new URL(server.url.replace("127.0.0.1", "localhost"));
  const claimed = await fetch(`${server.url}/api/v1/platform/claim`, {
    method: "POST",
    headers: { cookie: credential["cookie"] ?? "", origin, "content-type": "application/json" },
    body: JSON.stringify({ setupCode: CODE.toLowerCase() }),
  });
  expect(claimed.status).toBe(200);
  const { text } = await open(credential);
  expect(text).toContain("has its first admin already");
  expect(text).not.toContain('name="setupCode"');
});
