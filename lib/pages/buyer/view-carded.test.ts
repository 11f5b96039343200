import { expect, test } from "vitest";
import { env } from "#lib/env.ts";
import type { AskerReader } from "#lib/identity/asker.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { viewPayment } from "#lib/pages/buyer/view-payment.ts";
import { viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { authorization, newId, request, transaction, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();
const { at, map, mandateFor, send } = useCards();

const reader = async () => (await authenticate(new Request(env().BASE_URL, { headers: at.person }))) as AskerReader;

async function asked(total: string, amount: number) {
  const mandateId = await mandateFor(total);
  const it = { cardId: await map(mandateId), iauth: newId("iauth") };
  const { data } = await send("issuing_authorization.request", request(it, amount));
  const authorizationId = data.metadata?.["authorizationId"] ?? "";
  const caller = await reader();
  return { it, authorizationId, mandateId, caller, view: () => viewPayment(caller, authorizationId) };
}

const ends = ({ timeline }: Awaited<ReturnType<typeof viewPayment>>) => timeline.map(({ title }) => title).slice(-2);

test("the page of a payment by card says what Stripe says, what was captured, and what is asked", async () => {
  const { it, caller, authorizationId, view } = await asked("100", 5_000);
  const first = await view();
  expect(first.carded).toMatchObject({
    cardId: it.cardId,
    name: "A card",
    account: "Our account",
    told: null,
    transactions: [],
    sums: { held: "50", captured: "0", released: "0", open: "50", unit: "USD" },
    asks: null,
    others: [],
  });
  expect(ends(first)).toEqual(["Reserved", "Approved"]);
  const { data } = await send("issuing_authorization.request", request(it, 1_000, 1));
  await send("issuing_authorization.updated", authorization(it, { amount: 6_000, request_history: [{}, {}] }));
  expect((await view()).carded).toMatchObject({
    told: { approved: true, status: "pending", amount: "60" },
    others: [data.metadata?.["authorizationId"]],
  });
  await send("issuing_transaction.created", transaction(it, 4_000));
  await send("issuing_transaction.created", transaction(it, -1_000, { type: "refund" }));
  expect((await view()).carded).toMatchObject({
    transactions: [
      { kind: "refund", amount: "10", currency: "USD" },
      { kind: "capture", amount: "40", currency: "USD" },
    ],
    sums: { captured: "40", open: "10" },
  });
  await send("issuing_transaction.created", transaction(it, 3_000));
  const over = await view();
  expect(over.carded).toMatchObject({ asks: "exceeded", sums: { open: "0" } });
  expect(over.stage).toEqual({ of: "reservation", status: "captured" });
  expect(ends(over)).toEqual(["Reserved", "Captured"]);
  const { items } = await viewPayments(caller, {}, { limit: 5 });
  expect(items.find((one) => one.authorizationId === authorizationId)).toMatchObject({ rail: "card" });
});

test("a denied payment by card says that Stripe was told no, and what it took nevertheless", async () => {
  const { it, view } = await asked("10", 5_000);
  const denied = await view();
  expect(denied).toMatchObject({ stage: { of: "outcome", status: "deny" }, carded: { told: null, sums: null } });
  expect(denied.timeline.at(-1)?.text).toContain("Stripe was told no.");
  await send("issuing_transaction.created", transaction(it, 5_000));
  const taken = await view();
  expect(taken.carded).toMatchObject({ asks: "exceeded", sums: { captured: "50", open: "0", unit: "USD" } });
  expect(ends(taken)).toEqual(["Denied", "Paid nevertheless"]);
});
