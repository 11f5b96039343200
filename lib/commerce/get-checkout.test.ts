import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { checkoutApprovals } from "#lib/approvals/tables.ts";
import { endWaits, waitingRequests } from "#lib/commerce/wait-for-checkout.ts";
import { database, mainPool, pool } from "#lib/db/client.ts";
import { forget } from "#lib/process.ts";
import { approve, cancel, previewed, read, reject, reviewed, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey } from "#test/identity.ts";
import { useCheckout } from "#test/open-checkout.ts";
import type { Credential } from "#test/tenant.ts";

useDatabase();

const checkout = useCheckout();

/** Resolves when this many HTTP requests wait for a decision. */
const untilWaiting = (count: number) => expect.poll(waitingRequests, { interval: 20 }).toBe(count);

describe("getCheckout", () => {
  test("answers at once without waitSeconds, and otherwise after that time if nobody decides", async () => {
    const started = performance.now();
    expect((await read(checkout.id, checkout.agent.credential)).data.intent.status).toBe("previewed");
    expect(performance.now() - started).toBeLessThan(30_000);
    expect((await read(checkout.id, checkout.agent.credential, "?waitSeconds=1")).data.intent.status).toBe("previewed");
    expect(performance.now() - started).toBeGreaterThan(1_000);
  });

  test("400 for more than 30 seconds", async () => {
    const { problem } = await read(checkout.id, checkout.agent.credential, "?waitSeconds=31");
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
  });

  test("a decision ends the wait, opening the page does not, and the wait uses no database connection", async () => {
    let ended = false;
    const waiting = Promise.all(
      Array.from({ length: 100 }, () => read(checkout.id, checkout.agent.credential, "?waitSeconds=30")),
    ).finally(() => {
      ended = true;
    });
    await untilWaiting(100);
    await view(checkout.id, checkout.person.credential);
    // The service checks all waiting requests together. So when the request for another checkout has been answered, these 100
    // were checked too.
    const basket = { items: [{ productId: "tee", variantId: "tee-m", quantity: 1 }] };
    const other = await previewed(checkout.shop, checkout.agent.credential, basket);
    const looked = read(other, checkout.agent.credential, "?waitSeconds=30");
    await untilWaiting(101);
    await cancel(other, checkout.agent.credential);
    expect((await looked).data.intent.status).toBe("canceled");
    expect(ended).toBe(false);
    await untilWaiting(100);
    const [busy] = await pool()<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`;
    expect(busy?.count).toBeLessThanOrEqual(1);
    const decided = performance.now();
    await reject(checkout.id, checkout.person.credential);
    const replies = await waiting;
    expect(performance.now() - decided).toBeLessThan(28_000);
    expect(new Set(replies.map(({ data }) => data.intent.status))).toEqual(new Set(["rejected"]));
    expect(replies[0]?.data.approval?.status).toBe("rejected");
  });

  test("503 for an organization with too many waiting requests", async () => {
    let answered = 0;
    const waiting = Array.from({ length: 210 }, async () => {
      const reply = await read(checkout.id, checkout.agent.credential, "?waitSeconds=30");
      answered += 1;
      return reply;
    });
    await expect.poll(() => answered, { interval: 20 }).toBe(10);
    await untilWaiting(200);
    await cancel(checkout.id, checkout.agent.credential);
    const replies = await Promise.all(waiting);
    expect(replies.filter(({ status }) => status === 503)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(200);
  });

  test("2,000 requests of one session that begin to wait leave connections free, and another's request is answered", async () => {
    const begin = () => read(checkout.id, checkout.person.credential, "?waitSeconds=30");
    const began = Array.from({ length: 2_000 }, begin);
    let exhausted = false;
    const watch = setInterval(() => (exhausted ||= mainPool().isExhausted), 1);
    const plain = await read(checkout.id, checkout.agent.credential);
    await untilWaiting(200);
    clearInterval(watch);
    await cancel(checkout.id, checkout.agent.credential);
    const statuses = (await Promise.all(began)).map(({ status }) => status);
    expect([plain.status, exhausted]).toEqual([200, false]);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(statuses.filter((status) => status === 200)).toHaveLength(200);
  });

  test("a process that stops answers waiting requests", async () => {
    const started = performance.now();
    const waiting = read(checkout.id, checkout.agent.credential, "?waitSeconds=30");
    await untilWaiting(1);
    endWaits();
    expect((await waiting).data.intent.status).toBe("previewed");
    await read(checkout.id, checkout.agent.credential, "?waitSeconds=30");
    expect(performance.now() - started).toBeLessThan(28_000);
    forget("commerce/wait-for-checkout");
  });

  test("`next` is the next call of the agent that asked, if there is one", async () => {
    const nextFor = async (as: Credential) => (await read(checkout.id, as)).data.next;
    const poll = { method: "GET", path: `/api/v1/agent/commerce/checkouts/${checkout.id}?waitSeconds=30` };
    expect(await nextFor(checkout.agent.credential)).toEqual(poll);
    expect(await nextFor(checkout.person.credential)).toBeUndefined();
    expect(await nextFor((await newKey(checkout.person)).credential)).toBeUndefined();
    await reviewed(checkout.id, checkout.person);
    await approve(checkout.id, checkout.person.credential);
    const { data } = await read(checkout.id, checkout.agent.credential);
    expect(data.next).toEqual({
      method: "POST",
      path: `/api/v1/agent/commerce/checkouts/${checkout.id}/continue`,
      body: { continuationToken: data.continuationToken, idempotencyKey: checkout.id },
    });
    await cancel(checkout.id, checkout.agent.credential);
    expect(await nextFor(checkout.agent.credential)).toBeUndefined();
  });

  test("the continuation token is shown only while it is active", async () => {
    await reviewed(checkout.id, checkout.person);
    expect((await read(checkout.id, checkout.agent.credential)).data.continuationToken).toBeUndefined();
    await approve(checkout.id, checkout.person.credential);
    expect((await read(checkout.id, checkout.agent.credential)).data.continuationToken).toBeDefined();
    await database()
      .update(checkoutApprovals)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` });
    const { data } = await read(checkout.id, checkout.agent.credential);
    expect(data.approval).toMatchObject({ status: "expired", continuationTokenStatus: "expired" });
    expect(data.continuationToken).toBeUndefined();
  });
});
