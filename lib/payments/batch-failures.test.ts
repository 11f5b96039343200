import { eq } from "drizzle-orm";
import postgres, { type Sql } from "postgres";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { database } from "#lib/db/client.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { ask, authorizationsOf, newIntent, outcomes, post, storedOf } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { throughLink } from "#test/proxy.ts";

const databaseOf = useDatabase();

let buyer: Buyer;
let mandateId: string;
let direct: Sql;
const newMandate = () =>
  activeMandate(buyer.person.credential, { policy: { assets, limits: { perPayment: "1", total: "1000000" } } });

beforeAll(async () => {
  buyer = await createBuyer();
  mandateId = await newMandate();
  direct = postgres(databaseOf().url, { max: 1, onnotice: () => {} });
});
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
  expect((await verifyChain(buyer.organizationId)).valid).toBe(true);
});
afterAll(() => direct.end());

const rowOf = (id: string) => `SELECT FROM mandates WHERE mandate_id = '${id}' FOR UPDATE`;

describe("a database that becomes unavailable", () => {
  test("while a batch waits only delays the batch: it is decided once, on another connection", async () => {
    const intent = newIntent(buyer);
    const row = await hold(databaseOf().url, rowOf(mandateId));
    const asked = post({ mandateId, intent }, buyer.agent.credential);
    await row.blocks();
    await direct`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'countersign'`;
    await row.release();
    const decided = await asked;
    expect([decided.data.policyDecision.outcome, decided.replayed]).toEqual(["allow", false]);
    expect(await direct`SELECT FROM authorizations WHERE intent_id = ${intent.intentId}`).toHaveLength(1);
    const again = await post({ mandateId, intent }, buyer.agent.credential);
    expect([again.text, again.replayed]).toEqual([decided.text, true]);
  });

  test("gives 503 while it is unavailable, nothing is stored, and the service reconnects by itself", async () => {
    const wire = await throughLink(databaseOf().url);
    expect(outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
    const before = await direct`SELECT FROM authorizations`;
    wire.cut();
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(buyer, mandateId)));
    expect(outcomes(answers)).toEqual({ service_unavailable: 50 });
    expect(await direct`SELECT FROM authorizations`).toHaveLength(before.length);
    wire.mend();
    await expect.poll(async () => outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
  });

  test("without closing connections gives 503 after the time limit, and the service reconnects", async () => {
    const wire = await throughLink(databaseOf().url);
    expect(outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
    const before = await direct`SELECT FROM authorizations`;
    wire.freeze();
    expect(outcomes([await ask(buyer, mandateId)])).toEqual({ service_unavailable: 1 });
    wire.mend();
    expect(await direct`SELECT FROM authorizations`).toHaveLength(before.length);
    await expect.poll(async () => outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
  });

  test("after COMMIT was sent gives 503, and the same idempotency key then finds what was committed", async () => {
    const wire = await throughLink(databaseOf().url);
    const intent = newIntent(buyer);
    const body = { mandateId, intent };
    const sent = wire.swallowAfter("COMMIT");
    const asked = post(body, buyer.agent.credential);
    await sent;
    const committed = () => direct`SELECT FROM authorizations WHERE intent_id = ${intent.intentId}`;
    await expect.poll(async () => (await committed()).length).toBe(1);
    wire.cut();
    expect(outcomes([await asked])).toEqual({ service_unavailable: 1 });
    wire.mend();
    await expect.poll(async () => (await post(body, buyer.agent.credential)).status).toBe(200);
    const found = await post(body, buyer.agent.credential);
    expect(found.replayed).toBe(true);
    expect(await storedOf(found.data.authorizationId)).toMatchObject({ answer: found.text });
    expect(
      await direct`SELECT FROM reservations r JOIN authorizations a USING (authorization_id)
      WHERE a.intent_id = ${intent.intentId}`,
    ).toHaveLength(1);
  });
});

describe("a lock that another transaction holds", () => {
  test("is waited for if it is released in time", async () => {
    const row = await hold(databaseOf().url, rowOf(mandateId));
    const asked = ask(buyer, mandateId);
    await row.blocks();
    await row.release();
    expect(outcomes([await asked])).toEqual({ allow: 1 });
  });

  test("is retried if it is released within the time for retries", async () => {
    const row = await hold(databaseOf().url, rowOf(mandateId));
    const asked = ask(buyer, mandateId);
    await row.blocks();
    const waitingSince = async () =>
      (
        await direct`SELECT query_start::text AS at FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND datname = current_database()`
      )[0]?.["at"] as string | undefined;
    const first = await waitingSince();
    await expect.poll(async () => ((await waitingSince()) ?? first) === first, { interval: 20 }).toBe(false);
    await row.release();
    expect(outcomes([await asked])).toEqual({ allow: 1 });
  });

  test("that is never released gives 503 for its mandate only, with nothing stored, and the rest of the batch is answered", async () => {
    const others = await Promise.all(Array.from({ length: 3 }, newMandate));
    const before = await authorizationsOf(mandateId);
    const row = await hold(databaseOf().url, rowOf(mandateId));
    const stuck = Promise.all([ask(buyer, mandateId), ask(buyer, mandateId)]);
    const fine = await Promise.all(others.map((other) => ask(buyer, other)));
    expect(outcomes(fine)).toEqual({ allow: 3 });
    expect(outcomes(await stuck)).toEqual({ overloaded: 2 });
    await row.release();
    expect(await authorizationsOf(mandateId)).toHaveLength(before.length);
    expect(outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
  });

  test("that is part of a deadlock is given up and retried", async () => {
    await direct.unsafe(`ALTER DATABASE ${databaseOf().name} SET deadlock_timeout = '400ms'`);
    // Only new connections use the changed setting.
    await throughLink(databaseOf().url);
    const head = await hold(
      databaseOf().url,
      `SET LOCAL deadlock_timeout = '20s'; SELECT FROM audit_heads WHERE chain = '${buyer.organizationId}' FOR UPDATE`,
    );
    const asked = ask(buyer, mandateId);
    await head.blocks();
    // The batch has locked the mandate and waits for the lock of the audit chain. This transaction has locked the audit chain and
    // waits for the mandate. PostgreSQL looks for the deadlock in the batch first, because its deadlock_timeout is shorter.
    await head.sql.unsafe(rowOf(mandateId));
    await head.release();
    expect(outcomes([await asked])).toEqual({ allow: 1 });
    await direct.unsafe(`ALTER DATABASE ${databaseOf().name} RESET deadlock_timeout`);
  });
});

describe("a refused batch", () => {
  test("does not change the mandate's row", async () => {
    const own = await newMandate();
    await direct.unsafe("ALTER TABLE authorizations ADD CONSTRAINT closed CHECK (outcome <> 'allow') NOT VALID");
    const refused = await Promise.all([ask(buyer, own), ask(buyer, own)]);
    await direct.unsafe("ALTER TABLE authorizations DROP CONSTRAINT closed");
    expect(outcomes(refused)).toEqual({ internal_error: 2 });
    const [row] = await database().select().from(mandates).where(eq(mandates.mandateId, own));
    expect([row?.reserved, row?.lastHeldAt]).toEqual([0n, null]);
    expect(await authorizationsOf(own)).toEqual([]);
    expect(outcomes([await ask(buyer, own)])).toEqual({ allow: 1 });
  });
});
