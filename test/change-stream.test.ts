import { beforeEach, describe, expect, test } from "vitest";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { readStream, type StreamReader } from "#test/changes.ts";
import { useDatabase } from "#test/database.ts";
import { runServer, type RunningServer } from "#test/running-server.ts";
import { createOrganization, createPerson } from "#test/tenant.ts";

const database = useDatabase();
// The limit is long, because the first test may build the pages.
const LIMIT_MS = 240_000;

let organizationId = "";
let cookie = "";
beforeEach(async () => {
  organizationId = await createOrganization();
  ({ cookie = "" } = (await createPerson(organizationId)).credential);
});

const start = () => runServer({ DATABASE_URL: database().url }, { pages: true });

const request = (path: string, headers: Readonly<Record<string, string>>) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

/** Opens a stream, by default as the person. It asks again while the answer is 503, as when the pages process is starting. */
async function open({ url }: RunningServer, path = "/changes", headers: Readonly<Record<string, string>> = { cookie }) {
  const port = Number(new URL(url).port);
  let reader: StreamReader;
  await expect
    .poll(async () => {
      reader = readStream(port, request(path, headers));
      await expect.poll(reader.status).not.toBe(0);
      return reader.status();
    })
    .not.toBe(503);
  return reader!;
}

const addEvent = (entityId: string) =>
  transact(async (tx) =>
    audit(
      tx,
      { type: "payment.denied", actorId: "test", organizationId, entityType: "authorization", entityId, metadata: {} },
      await clock(tx),
    ),
  );

describe("the stream of changes", { timeout: LIMIT_MS }, () => {
  test("belongs to the pages process: it continues while the process that authorizes is stopped", async () => {
    const server = await start();
    const stream = await open(server);
    expect(stream.text()).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: text\/event-stream/);
    server.child.kill("SIGSTOP");
    try {
      await addEvent("auth_1");
      await expect.poll(() => stream.messages()).toEqual([{ changes: [{ kind: "payment", id: "auth_1" }], more: false }]);
    } finally {
      server.child.kill("SIGCONT");
    }
    // The process of the API has given the connection away and no longer counts it, so its shutdown does not wait for the stream.
    const began = performance.now();
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(performance.now() - began).toBeLessThan(20_000);
    await stream.ended;
    expect(stream.text()).toMatch(/\n\n$/);
  });

  test("resumes from Last-Event-ID and from the query; refuses other methods and people without a session", async () => {
    const server = await start();
    const { lastId } = await open(server);
    const before = lastId();
    await addEvent("auth_1");
    const missed = [{ changes: [{ kind: "payment", id: "auth_1" }], more: false }];
    const resumed = [
      await open(server, "/changes", { cookie, "Last-Event-ID": String(before) }),
      await open(server, `/changes?after=${before}`),
    ];
    for (const { messages } of resumed) await expect.poll(messages).toEqual(missed);
    expect((await open(server, "/changes", {})).status()).toBe(401);
    expect((await fetch(`${server.url}/changes`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${server.url}/changes`, { method: "HEAD", headers: { cookie } })).status).toBe(404);
    // The connection of the stream may have carried other requests before.
    const both = readStream(Number(new URL(server.url).port), request("/icon.svg", {}));
    await expect.poll(both.status).toBe(200);
    both.socket.write(request("/changes", { cookie }));
    await expect.poll(both.text).toContain("text/event-stream");
  });
});
