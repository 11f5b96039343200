import { eq } from "drizzle-orm";
import { afterEach, expect, test } from "vitest";
import { followUsage } from "#lib/alerts/follow-usage.ts";
import { alerts } from "#lib/alerts/tables.ts";
import { database } from "#lib/db/client.ts";
import { allowPaymentOnce } from "#lib/payments/refusals/allow-payment-once.ts";
import { allowPaymentOnce as operation } from "#lib/payments/contract.ts";
import { newId, request, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { proved } from "#test/proofs.ts";
import { budgetOf } from "#test/recording.ts";
import { send as ask } from "#test/tenant.ts";

/* A card waits two seconds, so a person clears a purchase after it was declined, and the same purchase passes once. */

useDatabase();
const { at, map, mandateFor, send } = useCards();
afterEach(async () => expect(await brokenSums()).toEqual([]));

async function scene(more: Record<string, unknown> = { cards: undefined }) {
  const mandateId = await mandateFor("100", more);
  const cardId = await map(mandateId);
  const buy = async (cents: number, change: Record<string, unknown> = {}, card = cardId) =>
    (await send("issuing_authorization.request", request({ cardId: card, iauth: newId("iauth") }, cents, 0, change))).data;
  return { mandateId, cardId, buy };
}
const clear = (id: string) => proved(at.person, () => ask(operation, allowPaymentOnce, { as: at.person, id, body: {} }));
const elsewhere = { merchant_data: { category: "bars", country: "US", name: "Another", network_id: "9" } };

test("lets exactly one matching purchase pass: the same card, merchant and about the amount", async () => {
  const { mandateId, buy } = await scene();
  const declined = await buy(3_000);
  expect(declined.metadata?.["reason"]).toBe("clearance_needed");
  const { status, data, problem } = await clear(declined.metadata!["authorizationId"]!);
  expect(status, JSON.stringify(problem)).toBe(200);
  const minutes = (Date.parse(data.waiver.expiresAt) - Date.parse(data.waiver.createdAt)) / 60_000;
  expect(minutes).toBe(30);
  const otherCard = await map(mandateId);
  for (const wrong of [await buy(3_301), await buy(2_600), await buy(3_000, elsewhere), await buy(3_000, {}, otherCard)])
    expect(wrong).toMatchObject({ approved: false, metadata: { reason: "clearance_needed" } });
  const at = Array.from({ length: 8 }, () => buy(3_200));
  expect((await Promise.all(at)).filter(({ approved }) => approved)).toHaveLength(1);
  expect(await budgetOf(mandateId)).toEqual([0, 32]);
});

test("needs the step-up of a payee that nobody verified, and no limit is cleared with it", async () => {
  const { buy } = await scene({ cards: { countries: ["DE"] }, approval: { mode: "always" } });
  const declined = await buy(2_600);
  const id = declined.metadata!["authorizationId"]!;
  expect((await ask(operation, allowPaymentOnce, { as: at.person, id, body: {} })).problem.code).toBe("step_up_required");
  const tooMuch = await buy(10_100);
  expect(tooMuch.metadata?.["reason"]).toBe("per_payment_limit_exceeded");
  expect((await clear(tooMuch.metadata!["authorizationId"]!)).problem.code).toBe("conflict");
});

test("people are told of the first declined purchase of an hour", async () => {
  const { mandateId, buy } = await scene();
  const declined = [await buy(1_000), await buy(1_100)];
  await followUsage();
  await buy(1_200);
  await followUsage();
  const rows = await database().select().from(alerts).where(eq(alerts.subjectId, mandateId));
  expect(rows.filter(({ facts }) => facts.kind === "card").map(({ facts }) => facts)).toEqual([
    { kind: "card", authorizationId: declined[0]!.metadata!["authorizationId"], asks: "clearance" },
  ]);
});
