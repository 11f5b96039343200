import { sql } from "drizzle-orm";
import { afterEach, expect, test } from "vitest";
import { closeCardPayment } from "#lib/cards/close-card-payment.ts";
import * as contract from "#lib/cards/contract.ts";
import { database } from "#lib/db/client.ts";
import { authorization, newId, request, transaction, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { proved } from "#test/proofs.ts";
import { budgetOf } from "#test/recording.ts";
import { createPerson, send as ask } from "#test/tenant.ts";

useDatabase();
const { at, map, mandateFor, send } = useCards();
afterEach(async () => expect(await brokenSums()).toEqual([]));

async function allowed(cents: number) {
  const mandateId = await mandateFor("100");
  const it = { mandateId, cardId: await map(mandateId), iauth: newId("iauth") };
  const { data } = await send("issuing_authorization.request", request(it, cents));
  return { ...it, authorizationId: data.metadata!["authorizationId"]! };
}
const close = (id: string, as = at.person) => ask(contract.closeCardPayment, closeCardPayment, { as, id, body: {} });

test("a person frees what Stripe told nothing of, with the step-up, and what Stripe tells later still counts", async () => {
  const it = await allowed(5_000);
  expect((await close(it.authorizationId)).status).toBe(409);
  await database().execute(sql`UPDATE card_authorizations SET asks = 'unconfirmed' WHERE stripe_id = ${it.iauth}`);
  expect((await close(it.authorizationId)).problem.code).toBe("step_up_required");
  const { status, data } = await proved(at.person, () => close(it.authorizationId));
  expect([status, data]).toEqual([200, { released: "50", unit: "USD" }]);
  expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
  await send("issuing_transaction.created", transaction(it, 5_000));
  expect(await budgetOf(it.mandateId)).toEqual([50, 0]);
});

test("a question about what was paid already ends, and nothing that Stripe holds is freed", async () => {
  const it = await allowed(5_000);
  await send("issuing_authorization.updated", authorization(it, { amount: 9_000 }));
  expect(await budgetOf(it.mandateId)).toEqual([0, 90]);
  expect((await close(it.authorizationId)).data).toEqual({ released: "0", unit: "USD" });
  expect(await budgetOf(it.mandateId)).toEqual([0, 90]);
  expect((await close(it.authorizationId)).status).toBe(409);
});

test("only people who close recorded payments may", async () => {
  const it = await allowed(5_000);
  const viewer = await createPerson(at.buyer.organizationId, "viewer");
  expect((await close(it.authorizationId, viewer.credential)).status).toBe(403);
  expect((await close(it.authorizationId, at.agent)).status).toBe(403);
});
