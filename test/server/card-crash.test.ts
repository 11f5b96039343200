import { sql } from "drizzle-orm";
import { afterEach, beforeAll, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { authorization, eventOf, newId, request, signedByStripe, transaction, useCards, type CardReply } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenInvariants } from "#test/proof.ts";
import { budgetOf } from "#test/recording.ts";
import { useServer, type RunningServer } from "#test/server.ts";

/* A server is killed after it has decided a card's request and before Stripe has the answer. */

const databaseOf = useDatabase();
const started = useServer();
const { at, map, mandateFor } = useCards();

beforeAll(async () => {
  // The test decides where a transaction of the server stops: these triggers wait for an advisory lock that the test holds.
  await database().execute(sql`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(7, TG_ARGV[0]::int); RETURN NULL; END $$`);
  await database().execute(
    sql`CREATE TRIGGER stop AFTER INSERT ON card_parts FOR EACH STATEMENT EXECUTE FUNCTION wait_for_test(1)`,
  );
  // A deferred trigger runs during COMMIT, so the transaction stops in COMMIT.
  await database().execute(sql`CREATE CONSTRAINT TRIGGER stop_commit AFTER INSERT ON card_parts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_for_test(2)`);
});
afterEach(async () => expect(await brokenInvariants()).toEqual([]));

/** Sends an event as Stripe does. Null if the server did not answer. */
async function tell({ url }: RunningServer, event: ReturnType<typeof eventOf>): Promise<CardReply | null> {
  const body = JSON.stringify(event);
  const headers = { "content-type": "application/json", ...signedByStripe(body) };
  const reply = await fetch(`${url}/api/v1/rails/stripe/${at.connectionId}`, { method: "POST", headers, body }).catch(() => null);
  if (reply === null) return null;
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return JSON.parse(text) as CardReply;
}

/** Waits until no other connection of this database has an open transaction. */
const settled = () =>
  expect
    .poll(() =>
      database().execute(sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`),
    )
    .toHaveLength(0);

const AMOUNT = 6_000;

/** A request at whose decision the server was killed. */
async function cutOff(point: 1 | 2) {
  const mandateId = await mandateFor("100");
  const purchase = { cardId: await map(mandateId), iauth: newId("iauth") };
  const asked = eventOf("issuing_authorization.request", request(purchase, AMOUNT));
  const server = await started();
  const lock = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(7, ${point})`);
  const answer = tell(server, asked);
  await lock.blocks();
  await server.kill();
  // On a slow machine, the server has declined in time before it was killed.
  expect((await answer)?.approved ?? false).toBe(false);
  await lock.release();
  await settled();
  return { mandateId, purchase, asked, next: await started() };
}

const told = (purchase: Parameters<typeof authorization>[0], approved: boolean, reason: string) =>
  eventOf(
    "issuing_authorization.created",
    authorization(purchase, {
      approved,
      amount: AMOUNT,
      status: approved ? "pending" : "closed",
      request_history: [{ approved, reason }],
    }),
  );

test.each([
  ["in COMMIT", 2, 60],
  ["before COMMIT", 1, 0],
] as const)("%s: what Stripe approves is held, and captured once", async (_where, point, held) => {
  const { mandateId, purchase, next } = await cutOff(point);
  expect(await budgetOf(mandateId)).toEqual([0, held]);
  const created = told(purchase, true, "webhook_timeout");
  const captured = eventOf("issuing_transaction.created", transaction(purchase, AMOUNT));
  for (const event of [created, created]) await tell(next, event);
  expect(await budgetOf(mandateId)).toEqual([0, 60]);
  for (const event of [captured, created, captured]) await tell(next, event);
  expect(await budgetOf(mandateId)).toEqual([60, 0]);
});

test.each([
  ["in COMMIT", 2, 60],
  ["before COMMIT", 1, 0],
] as const)("%s: what Stripe declines is free again", async (_where, point, held) => {
  const { mandateId, purchase, next } = await cutOff(point);
  expect(await budgetOf(mandateId)).toEqual([0, held]);
  const created = told(purchase, false, "webhook_timeout");
  for (const event of [created, created]) await tell(next, event);
  expect(await budgetOf(mandateId)).toEqual([0, 0]);
});

test("a repeat of the request gets the decision that was stored, and its hold ends only by what Stripe tells", async () => {
  const { mandateId, purchase, asked, next } = await cutOff(2);
  const first = await tell(next, asked);
  expect(first).toMatchObject({ approved: true, metadata: { reason: "allowed" } });
  expect(await tell(next, asked)).toEqual(first);
  expect(await budgetOf(mandateId)).toEqual([0, 60]);
  const another = eventOf("issuing_authorization.request", request({ ...purchase, iauth: newId("iauth") }, AMOUNT));
  expect(await tell(next, another)).toMatchObject({ approved: false, metadata: { reason: "total_budget_exceeded" } });
  await tell(next, told(purchase, true, "webhook_approved"));
  expect(await budgetOf(mandateId)).toEqual([0, 60]);
});
