import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { followUsage } from "#lib/alerts/follow-usage.ts";
import { sendAlerts } from "#lib/alerts/send-alerts.ts";
import { alerts } from "#lib/alerts/tables.ts";
import { sweepCards } from "#lib/cards/sweep-cards.ts";
import { database } from "#lib/db/client.ts";
import { cardAuthorizations } from "#lib/holds/card-tables.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { authorization, newId, request, transaction, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { lockingMandate } from "#test/lock-mandate.ts";
import { budgetOf } from "#test/recording.ts";

useDatabase();
const { map, mandateFor, send } = useCards();
afterEach(async () => expect(await brokenSums()).toEqual([]));

async function allowed(cents: number) {
  const mandateId = await mandateFor("100");
  const it = { mandateId, cardId: await map(mandateId), iauth: newId("iauth") };
  const { data } = await send("issuing_authorization.request", request(it, cents));
  return { ...it, authorizationId: data.metadata!["authorizationId"]! };
}

const told = async (authorizationId: string) => {
  await followUsage();
  return (await database().select().from(alerts).where(eq(alerts.subjectId, authorizationId))).map(({ facts }) => facts);
};
/** As if days had passed since Stripe asked. */
const later = (authorizationId: string) =>
  database()
    .execute(sql`ALTER TABLE authorizations DISABLE TRIGGER USER`)
    .then(() =>
      database().execute(
        sql`UPDATE authorizations SET expires_at = expires_at - interval '5 days' WHERE authorization_id = ${authorizationId}`,
      ),
    );

describe("what a card holds", () => {
  test("is freed when the tail of an expired authorization is over, and a late capture counts nevertheless", async () => {
    const it = await allowed(5_000);
    await send("issuing_authorization.updated", authorization(it, { amount: 5_000, status: "expired" }));
    await sweepCards();
    expect(await budgetOf(it.mandateId)).toEqual([0, 50]);
    await database().execute(sql`UPDATE card_authorizations SET tail_until = now() WHERE stripe_id = ${it.iauth}`);
    await sweepCards();
    expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
    await send("issuing_transaction.created", transaction(it, 5_000));
    expect(await budgetOf(it.mandateId)).toEqual([50, 0]);
    expect(await told(it.authorizationId)).toEqual([{ kind: "card", authorizationId: it.authorizationId, asks: "exceeded" }]);
  });

  test("is freed although another mandate is locked for longer than a sweep waits", async () => {
    const [locked, free] = [await allowed(5_000), await allowed(5_000)];
    for (const [it, seconds] of [
      [locked, 2],
      [free, 1],
    ] as const) {
      await send("issuing_authorization.updated", authorization(it, { amount: 5_000, status: "expired" }));
      const past = new Date(Date.now() - seconds * 1_000);
      await database().update(cardAuthorizations).set({ tailUntil: past }).where(eq(cardAuthorizations.stripeId, it.iauth));
    }
    const release = await lockingMandate(locked.mandateId);
    await sweepCards();
    expect(await budgetOf(free.mandateId)).toEqual([0, 0]);
    await release();
    await sweepCards();
    expect(await budgetOf(locked.mandateId)).toEqual([0, 0]);
  });

  test("is freed by no sweep while Stripe tells nothing: after four days a person is asked, once", async () => {
    const [it, confirmed] = [await allowed(5_000), await allowed(5_000)];
    await send("issuing_authorization.created", authorization(confirmed, { amount: 5_000 }));
    await sweepCards();
    expect(await told(it.authorizationId)).toEqual([]);
    for (const { authorizationId } of [it, confirmed]) await later(authorizationId);
    await sweepHolds();
    await sweepCards();
    await sweepCards();
    const asked = [{ kind: "card", authorizationId: it.authorizationId, asks: "unconfirmed" }];
    expect([await told(it.authorizationId), await told(confirmed.authorizationId)]).toEqual([asked, []]);
    expect([await budgetOf(it.mandateId), await budgetOf(confirmed.mandateId)]).toEqual([
      [0, 50],
      [0, 50],
    ]);
    await sendAlerts();
    const rows = await database().select().from(alerts).where(eq(alerts.subjectId, it.authorizationId));
    expect(rows.map(({ status }) => status)).toEqual(["delivered"]);
  });
});
