import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { member, session, user } from "#lib/identity/tables.ts";
import { callerIsLive } from "#lib/holds/execution-store.ts";
import { useDatabase } from "#test/database.ts";
import { createOrganization, createPerson } from "#test/tenant.ts";

useDatabase();

async function signedIn() {
  const { userId, credential } = await createPerson(await createOrganization());
  const caller = await authenticate(new Request("http://localhost:3000/", { headers: credential }));
  if (caller?.kind !== "session") throw new Error("A person authenticates as one.");
  return { userId, caller };
}

const isLive = (caller: Parameters<typeof callerIsLive>[1]) => database().transaction((tx) => callerIsLive(tx, caller));

test("a person who has signed out cannot execute", async () => {
  const { caller } = await signedIn();
  expect(await isLive(caller)).toBe(true);
  await database().delete(session).where(eq(session.id, caller.sessionId));
  expect(await isLive(caller)).toBe(false);
});

test("a ban applies until it ends, as it does at sign-in", async () => {
  const { userId, caller } = await signedIn();
  const ban = (banExpires: Date | null) => database().update(user).set({ banned: true, banExpires }).where(eq(user.id, userId));
  await ban(null);
  expect(await isLive(caller)).toBe(false);
  await ban(new Date(Date.now() + 60_000));
  expect(await isLive(caller)).toBe(false);
  await ban(new Date(Date.now() - 60_000));
  expect(await isLive(caller)).toBe(true);
});

test("a person whose new role cannot pay cannot execute, and one whose role still can does", async () => {
  const { userId, caller } = await signedIn();
  const setRole = (role: string) => database().update(member).set({ role }).where(eq(member.userId, userId));
  await setRole("viewer");
  expect(await isLive(caller)).toBe(false);
  await setRole("admin");
  expect(await isLive(caller)).toBe(true);
});
