import { expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { captureHold, holdOf, lockMandate, raiseHold, refundHold, type Hold } from "#lib/holds/hold-store.ts";
import { countOverdueHolds } from "#lib/holds/sweep-store.ts";
import { parseAmount } from "#lib/money.ts";
import { sumHeld } from "#lib/platform/emergency-store.ts";
import { useDatabase } from "#test/database.ts";
import { ofAuthorization, setHolds } from "#test/holds.ts";
import { activeMandate, assets, authorize, createBuyer } from "#test/mandates.ts";

useDatabase();

test("only what is open of a hold counts as held, and does not hide that another one is overdue", async () => {
  const buyer = await createBuyer({ price: "0.5" });
  const policy = { assets, limits: { perPayment: "1", total: "1000" } };
  const mandateId = await activeMandate(buyer.person.credential, { policy });
  const inParts = await authorize(buyer, mandateId, "0.5");
  const late = await authorize(buyer, mandateId, "0.5");
  await transact(async (tx) => {
    await lockMandate(tx, mandateId);
    const raised = await raiseHold(tx, (await holdOf(tx, inParts.authorizationId))!, parseAmount("1", 6));
    await captureHold(tx, raised, parseAmount("1", 6));
  });
  await setHolds(ofAuthorization(late.authorizationId), { expiresAt: new Date(Date.now() - 120_000) });
  expect(await countOverdueHolds(database())).toBe(1);
  const held = await sumHeld(database(), { kind: "mandate", id: mandateId }, new Date(0));
  expect(held).toMatchObject([{ count: 2, amount: "1000000" }]);
});

test("a refund leaves the time at which the hold ended", async () => {
  const buyer = await createBuyer({ price: "0.5" });
  const mandateId = await activeMandate(buyer.person.credential);
  const { authorizationId } = await authorize(buyer, mandateId, "0.5");
  const on = (work: (tx: Tx, hold: Hold) => Promise<unknown>) =>
    transact(async (tx) => {
      await lockMandate(tx, mandateId);
      await work(tx, (await holdOf(tx, authorizationId))!);
      return (await holdOf(tx, authorizationId))!;
    });
  const { resolvedAt } = await on((tx, hold) => captureHold(tx, hold));
  await new Promise((resolve) => setTimeout(resolve, 5));
  const refunded = await on((tx, hold) => refundHold(tx, hold, parseAmount("0.2", 6)));
  expect(refunded).toMatchObject({ status: "captured", refunded: parseAmount("0.2", 6), resolvedAt });
});
