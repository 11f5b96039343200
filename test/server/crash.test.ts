import { sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { mcpPurchases } from "#lib/mcp/tables.ts";
import { newIntent, storedAnswers } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { paidPage } from "#test/paid-page.ts";
import { authorized, expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { registeredScene, useContracts } from "#test/registered.ts";
import { useServer, type RunningServer } from "#test/server.ts";

const databaseOf = useDatabase();
const started = useServer();
const chain = useSettlement();
const contracts = useContracts(chain);

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
  // The test decides where a transaction of the server stops: these triggers wait for an advisory lock that the test holds.
  await database().execute(sql`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(7, TG_ARGV[0]::int); RETURN NULL; END $$`);
  const points = [
    [1, "AFTER INSERT ON authorizations"],
    [2, "AFTER INSERT ON usage_buckets"],
    [3, "AFTER UPDATE ON audit_heads"],
    [4, "AFTER INSERT ON executions"],
    [5, "AFTER INSERT ON credential_claims"],
    [7, "AFTER INSERT ON registration_slots"],
  ] as const;
  for (const [number, when] of points) {
    await database().execute(sql.raw(`CREATE TRIGGER stop ${when} FOR EACH STATEMENT EXECUTE FUNCTION wait_for_test(${number})`));
  }
  await database().execute(sql`CREATE TRIGGER stop AFTER UPDATE ON mcp_purchases FOR EACH ROW
    WHEN (OLD.result IS NULL AND NEW.result IS NOT NULL) EXECUTE FUNCTION wait_for_test(8)`);
  // A deferred trigger runs during COMMIT, so the transaction stops in COMMIT.
  await database().execute(sql`CREATE CONSTRAINT TRIGGER stop_commit AFTER INSERT ON authorizations
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_for_test(6)`);
});
afterEach(async () => expect(await brokenInvariants()).toEqual([]));

const newMandate = () =>
  activeMandate(buyer.person.credential, {
    policy: { assets, limits: { perPayment: "1", total: "1000", budgets: [{ period: "year", timezone: "UTC", amount: "500" }] } },
  });

type Reply = { readonly status: number; readonly text: string; readonly replayed: boolean };

/** Sends a request. Null if the server did not answer. */
async function send({ url }: RunningServer, path: string, as: Record<string, string>, body: unknown): Promise<Reply | null> {
  const headers = { "content-type": "application/json", ...as };
  try {
    const reply = await fetch(`${url}/api/v1/payments/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: reply.status, text: await reply.text(), replayed: reply.headers.get("idempotent-replayed") === "true" };
  } catch {
    return null;
  }
}

const authorize = (server: RunningServer, body: unknown) => send(server, "authorize", buyer.agent.credential, body);

const stop = (point: number) => `SELECT pg_advisory_xact_lock(7, ${point})`;

/** Waits until no other connection of this database has an open transaction. */
const settled = () =>
  expect
    .poll(async () => {
      const open = await database().execute(sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`);
      return open.length;
    })
    .toBe(0);

describe("kill -9 of a server that is authorizing", () => {
  test.each([
    ["while it reads", "LOCK TABLE sellers", [0]],
    ["after it reserved", stop(1), [0]],
    ["after it counted the reservation", stop(2), [0]],
    ["before COMMIT, which may be on its way", stop(3), [0, 1]],
    ["while it commits", stop(6), [1]],
  ])("%s: the same key then has one effect on the next server", async (_name, statement, committed) => {
    const mandateId = await newMandate();
    const body = { mandateId, intent: newIntent(buyer) };
    const first = await started();
    const point = await hold(databaseOf().url, statement);
    const cut = authorize(first, body);
    await point.blocks();
    await first.kill();
    expect(await cut).toBeNull();
    await point.release();
    await settled();
    const stored = (await storedAnswers(mandateId)).length;
    expect(committed).toContain(stored);
    expect(await brokenInvariants()).toEqual([]);

    const second = await started();
    const reply = await authorize(second, body);
    expect([reply?.status, reply?.replayed]).toEqual([200, stored === 1]);
    expect(await authorize(second, body)).toEqual({ ...reply, replayed: true });
    expect(await storedAnswers(mandateId)).toEqual([reply?.text]);
  });

  test("under load: every answer is stored, and in the end every key has one effect and one answer", async () => {
    const mandateIds = await Promise.all(Array.from({ length: 4 }, newMandate));
    const bodies = Array.from({ length: 400 }, (_, at) => ({ mandateId: mandateIds[at % 4], intent: newIntent(buyer) }));
    const first = await started();
    const before = new Map<unknown, string>();
    const all = bodies.map(async (body) => {
      const reply = await authorize(first, body);
      if (reply?.status === 200) before.set(body, reply.text);
      if (before.size === 60) await first.kill();
    });
    await Promise.all(all);
    await settled();
    expect(before.size).toBeGreaterThanOrEqual(60);
    expect(await brokenInvariants()).toEqual([]);

    const second = await started();
    const after = await Promise.all(bodies.map((body) => authorize(second, body)));
    expect(new Set(after.map((reply) => reply?.status))).toEqual(new Set([200]));
    for (const [at, body] of bodies.entries()) expect(after[at]?.text).toBe(before.get(body) ?? after[at]?.text);
    const own = await database().execute(sql`SELECT FROM authorizations WHERE mandate_id = ANY(${sql.param(mandateIds)})`);
    expect(own).toHaveLength(bodies.length);
  });
});

describe("kill -9 of a server that is executing", () => {
  const withWallet = async () => {
    const scene = await paymentScene();
    const wallet = newWallet();
    await chain().mint(wallet.address, 1_000_000n);
    return { scene, paymentCredential: await signed(wallet, expectedOf(scene)) };
  };
  /** The mandate has one nonce slot per period, so if a slot were lost, the next payment would fail. */
  const registered = async () => {
    const terms = { periodLimit: 250_000n, maxPaymentsPerPeriod: 1 };
    return { scene: await registeredScene(chain(), contracts(), { terms }), paymentCredential: undefined };
  };

  test.each([
    ["after it claimed the credential", 5, withWallet],
    ["after it wrote the execution of a credential", 4, withWallet],
    ["after it took a slot of a registered mandate", 7, registered],
    ["after it wrote the execution of a proof", 4, registered],
  ])("%s: nothing is submitted, and the same key submits once on the next server", async (_name, at, given) => {
    const { scene, paymentCredential } = await given();
    const { authorizationId } = await authorized(scene);
    const body = { authorizationId, idempotencyKey: `crash-${at}`, paymentCredential };
    const execute = (server: RunningServer) => send(server, "execute", scene.agent.credential, body);
    const first = await started();
    const point = await hold(databaseOf().url, stop(at));
    const cut = execute(first);
    await point.blocks();
    await first.kill();
    expect(await cut).toBeNull();
    await point.release();
    await settled();
    const rows = () =>
      database()
        .select({ status: executions.settlementStatus })
        .from(executions)
        .where(sql`authorization_id = ${authorizationId}`);
    expect(await rows()).toEqual([]);

    const second = await started();
    const reply = await execute(second);
    expect([reply?.status, JSON.parse(reply?.text ?? "{}")]).toMatchObject([200, { settlementStatus: "pending" }]);
    expect((await execute(second))?.text).toBe(reply?.text);
    expect(await rows()).toEqual([{ status: "pending" }]);
    const taken = await database().execute(
      sql`SELECT status FROM registration_slots WHERE authorization_id = ${authorizationId}`,
    );
    expect(taken.map(({ status }) => status)).toEqual(paymentCredential === undefined ? ["held"] : []);
  });
});

describe("kill -9 of a server that fetches a page for an agent and pays for it", () => {
  test.each([
    ["after the payment was executed and before the seller took it: the next server shows the same payment", true, "paid"],
    ["after the seller answered: the next server pays nothing and says that it is paid", false, "paidButNotServed"],
  ])("%s", async (_name, fails, end) => {
    const scene = await paidPage({ chain: chain(), contracts: contracts(), buyer }, fails);
    const first = await scene.start();
    const point = await hold(databaseOf().url, stop(8));
    const cut = first.fetchPaid().then(
      () => "answered",
      () => "cut",
    );
    await (fails ? scene.shown : point.blocks());
    await first.server.kill();
    expect(await cut).toBe("cut");
    scene.fail();
    // If the seller has answered, the statement that stores its answer waits in the database, and would commit although the
    // server is gone. So the test ends the connection of this statement.
    await database().execute(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%mcp_purchases%'`);
    await point.release();
    await settled();
    // End the lease of the killed call, so that the next server can continue at once.
    await database().update(mcpPurchases).set({ busyUntil: null });
    const next = await scene.start();
    await expect.poll(async () => (await next.fetchPaid()).structuredContent["status"], { interval: 500 }).toBe(end);
    expect([await scene.payments(), await scene.balance(), scene.seller.served()]).toEqual([
      [{ status: expect.stringMatching(/^(pending|settled)$/) }],
      250_000n,
      1,
    ]);
  });
});

describe("SIGTERM", () => {
  test("loses nothing: exactly the stored decisions were answered", async () => {
    const mandateId = await newMandate();
    const server = await started();
    const answered: string[] = [];
    const state = { ended: false };
    const client = async (): Promise<void> => {
      while (!state.ended) {
        const reply = await authorize(server, { mandateId, intent: newIntent(buyer) });
        if (reply === null) return;
        if (reply.status === 200) answered.push(reply.text);
        if (answered.length === 200) void server.stop().then(() => (state.ended = true));
      }
    };
    await Promise.all(Array.from({ length: 32 }, client));
    await server.stop();
    expect(server.child.exitCode).toBe(0);
    const stored = await storedAnswers(mandateId);
    expect(stored.length).toBeGreaterThanOrEqual(200);
    expect(stored).toEqual(answered.toSorted());
  });

  test("waits for an open batch", async () => {
    const mandateId = await newMandate();
    const server = await started();
    const point = await hold(databaseOf().url, stop(2));
    const asked = authorize(server, { mandateId, intent: newIntent(buyer) });
    await point.blocks();
    const stopping = server.stop();
    await expect.poll(() => send(server, "authorize", {}, {})).toBeNull();
    await point.release();
    expect((await asked)?.status).toBe(200);
    await stopping;
    expect(server.child.exitCode).toBe(0);
  });

  test("waits for a batch whose client has disconnected", async () => {
    const mandateId = await newMandate();
    const server = await started();
    const point = await hold(databaseOf().url, stop(2));
    const hangUp = new AbortController();
    const headers = { "content-type": "application/json", ...buyer.agent.credential };
    const body = JSON.stringify({ mandateId, intent: newIntent(buyer) });
    const asked = fetch(`${server.url}/api/v1/payments/authorize`, { method: "POST", headers, body, signal: hangUp.signal });
    await point.blocks();
    hangUp.abort();
    await expect(asked).rejects.toThrow();
    const stopping = server.stop();
    await expect.poll(() => send(server, "authorize", {}, {})).toBeNull();
    await point.release();
    await stopping;
    expect(server.child.exitCode).toBe(0);
    expect(await database().execute(sql`SELECT FROM authorizations WHERE mandate_id = ${mandateId}`)).toHaveLength(1);
  });
});
