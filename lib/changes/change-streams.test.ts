import { createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { eq, sql } from "drizzle-orm";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { ChangeStreams } from "#lib/changes/change-streams.ts";
import { database } from "#lib/db/client.ts";
import { member, session, user } from "#lib/identity/tables.ts";
import { readStream } from "#test/changes.ts";
import { useDatabase } from "#test/database.ts";
import { authorize, activeMandate, createBuyer } from "#test/mandates.ts";
import { createOrganization, createPerson, type Credential } from "#test/tenant.ts";

useDatabase();

let streams = new ChangeStreams();
afterEach(() => {
  streams.end();
  streams = new ChangeStreams();
});

/** The sockets on the server's side of the connections. */
let accepted: Socket[] = [];

/** Starts a server for the streams. A client sends one line of JSON, with its session cookie and the last event that it knows. */
async function listen(): Promise<number> {
  accepted = [];
  const server = createServer((socket) => {
    accepted.push(socket);
    socket.once("data", (line: Buffer) => {
      const { cookie = null, after = null, address = "127.0.0.1" } = JSON.parse(line.toString()) as Asked;
      void streams.open(socket, { cookie, after, address });
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

type Asked = { readonly cookie?: string; readonly after?: number; readonly address?: string };

const open = async (port: number, { cookie = "" }: Credential, asked: Asked = {}) => {
  const reader = readStream(port, JSON.stringify({ cookie, ...asked }));
  await expect.poll(reader.status).not.toBe(0);
  return reader;
};

const addEvent = (organizationId: string, type: string, entityId: string, count = 1) =>
  transact(async (tx) => {
    const at = await clock(tx);
    for (let added = 0; added < count; added += 1)
      audit(tx, { type, actorId: "test", organizationId, entityType: "test", entityId, metadata: {} }, at);
  });

test("every stream of the organization gets a payment within two seconds, as kind and id only", async () => {
  const port = await listen();
  const buyer = await createBuyer();
  const other = await createPerson(await createOrganization());
  const mandateId = await activeMandate(buyer.person.credential);
  const [one, two, stranger] = [
    await open(port, buyer.person.credential),
    await open(port, buyer.person.credential),
    await open(port, other.credential),
  ];
  const { authorizationId } = await authorize(buyer, mandateId);
  for (const reader of [one, two]) {
    await expect.poll(() => reader.messages()).toEqual([{ changes: [{ kind: "payment", id: authorizationId }], more: false }]);
  }
  expect(stranger.messages()).toEqual([]);
});

test("tells each person only what their role may read, and at most one message a second", async () => {
  const port = await listen();
  const organizationId = await createOrganization();
  const finance = await open(port, (await createPerson(organizationId, "finance")).credential);
  const owner = await open(port, (await createPerson(organizationId)).credential);
  const until = performance.now() + 2_500;
  while (performance.now() < until) {
    await addEvent(organizationId, "checkout.rejected", "chk_1");
    await addEvent(organizationId, "payment.denied", "auth_1");
    await pause(50);
  }
  expect(owner.messages().length).toBeGreaterThanOrEqual(1);
  expect(owner.messages().length).toBeLessThanOrEqual(3);
  expect(owner.messages()[0]?.changes).toContainEqual({ kind: "request", id: "chk_1" });
  expect(finance.messages().flatMap(({ changes }) => changes.map(({ kind }) => kind))).not.toContain("request");
});

test("resumes after the last message that the client has received", async () => {
  const port = await listen();
  const organizationId = await createOrganization();
  const { credential } = await createPerson(organizationId);
  const first = await open(port, credential);
  await addEvent(organizationId, "payment.denied", "auth_1");
  await expect.poll(() => first.messages()).toHaveLength(1);
  first.socket.destroy();
  await addEvent(organizationId, "payment.denied", "auth_2");
  const again = await open(port, credential, { after: first.lastId() });
  await expect.poll(() => again.messages()).toEqual([{ changes: [{ kind: "payment", id: "auth_2" }], more: false }]);
  await addEvent(organizationId, "payment.denied", "auth_3", 120);
  await expect
    .poll(() => again.messages().at(-1))
    .toEqual({
      changes: [{ kind: "payment", id: "auth_3" }],
      more: true,
    });
  // Ask for a sequence from another organization, which is higher than the last sequence of this one.
  const foreign = await open(port, credential, { after: 1_000_000 });
  expect(foreign.lastId()).toBe(again.lastId());
});

const losses = {
  "a session that was revoked": (userId: string) => database().delete(session).where(eq(session.userId, userId)),
  "a session that expired": (userId: string) =>
    database()
      .update(session)
      .set({ expiresAt: sql`statement_timestamp()` })
      .where(eq(session.userId, userId)),
  "a membership that ended": (userId: string) => database().delete(member).where(eq(member.userId, userId)),
  "a role that changed": (userId: string) => database().update(member).set({ role: "viewer" }).where(eq(member.userId, userId)),
  "a person who was banned": (userId: string) => database().update(user).set({ banned: true }).where(eq(user.id, userId)),
  "another active organization": (userId: string) =>
    database().update(session).set({ activeOrganizationId: "org_other" }).where(eq(session.userId, userId)),
} as const;

test.for(Object.entries(losses))("the stream of %s ends at once, and the next one begins at 0", async ([, lose]) => {
  const port = await listen();
  const organizationId = await createOrganization();
  const leaving = await createPerson(organizationId);
  await addEvent(organizationId, "payment.denied", "auth_1");
  const staying = await open(port, (await createPerson(organizationId)).credential);
  const reader = await open(port, leaving.credential);
  expect(reader.lastId()).toBeGreaterThan(0);
  await lose(leaving.userId);
  const began = performance.now();
  await reader.ended;
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(reader.lastId()).toBe(0);
  expect(staying.socket.closed).toBe(false);
});

test("401 without a session, 204 without an organization", async () => {
  const port = await listen();
  const nobody = await open(port, {});
  expect(nobody.status()).toBe(401);
  await nobody.ended;
  const { userId, credential } = await createPerson(await createOrganization());
  await database().update(session).set({ activeOrganizationId: null }).where(eq(session.userId, userId));
  expect((await open(port, credential)).status()).toBe(204);
  expect(streams.size).toBe(0);
});

test("a client that reads nothing is disconnected, and at most one message is kept for it", async () => {
  const port = await listen();
  const organizationId = await createOrganization();
  const { credential } = await createPerson(organizationId);
  const quick = await open(port, credential);
  const slow = await open(port, credential);
  slow.socket.pause();
  const before = streams.size;
  // Fill the buffers of the connection, as if the client had not read for a long time.
  const socket = accepted[1]!;
  while (socket.writableLength === 0) socket.write(`:${" ".repeat(60_000)}\n\n`);
  const held = socket.writableLength;
  await addEvent(organizationId, "payment.denied", "auth_1");
  await expect.poll(() => streams.size).toBe(before - 1);
  expect(held).toBeLessThan(100_000);
  expect(socket.writableLength).toBe(0);
  await expect.poll(() => quick.messages()).toHaveLength(1);
});

test("a session can have four streams, and another one closes the oldest", async () => {
  const port = await listen();
  const { credential } = await createPerson(await createOrganization());
  const first = await open(port, credential);
  for (let more = 0; more < 4; more += 1) await open(port, credential);
  await first.ended;
  expect(streams.size).toBe(4);
});
