import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { noticeCursors, notices } from "#lib/notices/tables.ts";
import { preview } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";
import { authorize, activeMandate } from "#test/mandates.ts";
import { askingBuyer, askingMandate, noticesOf, openRequest } from "#test/notices.ts";
import { createAgent } from "#test/tenant.ts";

const own = useDatabase();

test("the event of a request for approval plans its notices; a second payment with the same question plans none", async () => {
  const { buyer, mandateId } = await askingBuyer();
  const { checkoutIntentId } = await openRequest(buyer, mandateId);
  expect((await openRequest(buyer, mandateId)).checkoutIntentId).toBe(checkoutIntentId);
  await authorize(buyer, await activeMandate(buyer.person.credential));
  expect(await followEvents()).toBe(3);
  const planned = await noticesOf(checkoutIntentId);
  expect(planned.map(({ kind, status }) => [kind, status])).toEqual([
    ["opened", "waiting"],
    ["halfTime", "waiting"],
    ["lastMinutes", "waiting"],
  ]);
  expect(await followEvents()).toBe(0);
  expect(await noticesOf(checkoutIntentId)).toEqual(planned);
});

test("a checkout that an agent previewed plans notices too, once", async () => {
  const { buyer } = await askingBuyer();
  const agent = await createAgent(buyer.organizationId, ["checkouts:preview"]);
  const shop = await openHostileStorefront();
  const first = await preview(shop, agent.credential);
  const again = await preview(shop, agent.credential);
  expect(again.data.intent.checkoutIntentId).toBe(first.data.intent.checkoutIntentId);
  await followEvents();
  expect((await noticesOf(first.data.intent.checkoutIntentId)).map(({ kind }) => kind)).toContain("opened");
  await shop.close();
});

test("parallel workers plan each notice once, and a worker that dies before its commit leaves nothing behind", async () => {
  const { buyer } = await askingBuyer();
  const requests: string[] = [];
  for (let count = 0; count < 8; count += 1) {
    requests.push((await openRequest(buyer, await askingMandate(buyer))).checkoutIntentId);
    await Promise.all([followEvents(), followEvents()]);
  }
  const last = await openRequest(buyer, await askingMandate(buyer));
  const cursors = await database().select().from(noticeCursors);
  const { name } = own();
  await database().transaction(async (tx) => {
    // The worker stops at its INSERT, after it has locked the cursor. Its connection is then ended, as if its process had died.
    await tx.execute(sql`LOCK TABLE notices IN EXCLUSIVE MODE`);
    const dying = followEvents().then(
      () => null,
      (error: unknown) => error,
    );
    const end = () =>
      tx.execute<{ ended: boolean }>(sql`
        SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE datname = ${name} AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`);
    await expect.poll(async () => (await end()).length).toBe(1);
    expect(await dying).toBeInstanceOf(Error);
  });
  expect(await database().select().from(noticeCursors)).toEqual(cursors);
  expect(await noticesOf(last.checkoutIntentId)).toEqual([]);
  await Promise.all([followEvents(), followEvents(), followEvents()]);
  for (const id of [...requests, last.checkoutIntentId]) expect(await noticesOf(id)).toHaveLength(3);
  expect(await database().$count(notices, sql`status <> 'waiting'`)).toBe(0);
});

test("a log whose notices cannot be written delays no other, and is read again", async () => {
  const [bad, good] = [await askingBuyer(), await askingBuyer()];
  const refused = await openRequest(bad.buyer, bad.mandateId);
  const planned = await openRequest(good.buyer, good.mandateId);
  const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.organization_id = '${bad.buyer.organizationId}' THEN RAISE 'refused'; END IF; RETURN NEW; END $$`;
  await database().execute(sql.raw(refuse));
  await database().execute(sql`CREATE TRIGGER refuse BEFORE INSERT ON notices FOR EACH ROW EXECUTE FUNCTION refuse()`);
  expect(await followEvents()).toBe(3);
  expect(await noticesOf(planned.checkoutIntentId)).toHaveLength(3);
  await database().execute(sql`DROP FUNCTION refuse CASCADE`);
  expect(await followEvents()).toBe(3);
  expect(await noticesOf(refused.checkoutIntentId)).toHaveLength(3);
});

test("a long log is read in parts, to its end", async () => {
  const { buyer, mandateId } = await askingBuyer();
  const { checkoutIntentId } = await openRequest(buyer, mandateId);
  // 120 other chains claim new events: more chains, and more events in each, than the worker reads in one transaction.
  await database().execute(sql`
    INSERT INTO audit_heads (chain, sequence, hash, peaks) SELECT 'org_busy' || n, 2500, '', '' FROM generate_series(1, 120) AS n`);
  await followEvents();
  expect(await noticesOf(checkoutIntentId)).toHaveLength(3);
  const [behind] = await database().execute<{ count: string }>(sql`
    SELECT count(*) FROM audit_heads h LEFT JOIN notice_cursors c USING (chain)
    WHERE h.chain NOT IN ('checkpoints', 'platform') AND h.sequence IS DISTINCT FROM c.sequence`);
  expect(Number(behind?.count)).toBe(0);
});
