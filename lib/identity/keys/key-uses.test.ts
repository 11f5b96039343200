import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { noteAddress } from "#lib/http/address.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { saveKeyUses } from "#lib/identity/keys/key-use-store.ts";
import { flushKeyUses, noteKeyUse } from "#lib/identity/keys/key-uses.ts";
import { keyUses } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization, type Agent } from "#test/identity.ts";

useDatabase();

const requestOf = ({ credential }: Agent, userAgent: string, address = "192.0.2.7"): Request => {
  const request = new Request(env().BASE_URL, { headers: { ...credential, "user-agent": userAgent } });
  noteAddress(request, address);
  return request;
};
const use = async (...args: Parameters<typeof requestOf>) => authenticate(requestOf(...args));
const keyIdOf = ({ apiKey }: Agent): string => apiKey.split("_")[2] ?? "";
const storedOf = async (agent: Agent) =>
  (
    await database()
      .select()
      .from(keyUses)
      .where(eq(keyUses.keyId, keyIdOf(agent)))
  )[0] ?? null;
test("the last use of a key is stored at intervals, by the database's clock, and not at each use", async () => {
  const agent = await newKey(await newOrganization());
  await use(agent, "agent/1.0");
  await use(agent, "agent/1.0");
  expect(await storedOf(agent)).toBeNull();
  await flushKeyUses();
  const first = await storedOf(agent);
  expect(first).toMatchObject({ address: "192.0.2.7", userAgent: "agent/1.0" });
  await flushKeyUses();
  expect(await storedOf(agent)).toEqual(first);
  await use(agent, "x".repeat(5_000), "192.0.2.8");
  await flushKeyUses();
  const second = await storedOf(agent);
  expect(second).toMatchObject({ address: "192.0.2.8", userAgent: "x".repeat(200) });
  expect(second!.lastUsedAt > first!.lastUsedAt).toBe(true);
});

test("another process with an older use does not overwrite a newer one", async () => {
  const agent = await newKey(await newOrganization());
  const used = { keyId: keyIdOf(agent), address: "192.0.2.9" };
  await saveKeyUses([{ ...used, secondsAgo: 60, userAgent: "newer" }]);
  await saveKeyUses([{ ...used, secondsAgo: 3_600, userAgent: "older" }]);
  expect((await storedOf(agent))?.userAgent).toBe("newer");
});

test("a use that the database refused is stored at the next interval, and does not replace a newer one", async () => {
  const owner = await newOrganization();
  const [idle, busy] = [await newKey(owner), await newKey(owner)];
  await use(idle, "only");
  await use(busy, "older");
  await database().execute(sql`ALTER TABLE key_uses RENAME TO key_uses_away`);
  const flushing = Promise.allSettled([flushKeyUses()]);
  noteKeyUse(keyIdOf(busy), requestOf(busy, "newer"));
  const [flushed] = await flushing;
  await database().execute(sql`ALTER TABLE key_uses_away RENAME TO key_uses`);
  expect(flushed.status).toBe("rejected");
  await flushKeyUses();
  expect([(await storedOf(idle))?.userAgent, (await storedOf(busy))?.userAgent]).toEqual(["only", "newer"]);
});

test("invalid keys are not recorded", async () => {
  const owner = await newOrganization();
  const agent = await newKey(owner);
  const other = await newKey(owner);
  await expect(use({ ...agent, credential: { authorization: "Bearer csk_sandbox_no" } }, "thief")).rejects.toThrow();
  await use(other, "right");
  await flushKeyUses();
  expect(await storedOf(agent)).toBeNull();
});
