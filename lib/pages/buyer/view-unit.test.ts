import { expect, test } from "vitest";
import { viewBurnDown } from "#lib/pages/buyer/view-burn-down.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { viewMandateLedger } from "#lib/pages/buyer/view-mandate-ledger.ts";
import { viewPayment } from "#lib/pages/buyer/view-payment.ts";
import { viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { viewSpending } from "#lib/pages/buyer/view-spending.ts";
import { ask } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { createOrganization, createResource } from "#test/tenant.ts";
import { inUsd, useTwoTokens } from "#test/two-tokens.ts";

useDatabase();
useTwoTokens();

test("a mandate in USD shows its ledger and its payments with the amounts in the tokens", async () => {
  const buyer = await createBuyer();
  const resource = await createResource(await createOrganization("Shop in euros"), "0.25", { asset: "EURX" });
  const mandateId = await activeMandate(buyer.person.credential, { policy: inUsd({ total: "5" }) });
  const { authorizationId } = (await ask({ ...buyer, resource }, mandateId, { asset: "EURX", amount: "0.25" })).data;
  const reader = { organizationId: buyer.organizationId, environment: "sandbox" as const };
  const ledger = await viewMandateLedger(reader, mandateId, { limit: 10 });
  expect(ledger.items.map(({ amount, asset, charge }) => [amount, asset, charge])).toEqual([["0.28", "USD", "0.25 EURX"]]);
  const { items } = await viewPayments(reader, { mandateId }, { limit: 10 });
  expect(items.map(({ total, asset, counted }) => [total, asset, counted])).toEqual([["0.25", "EURX", "0.28 USD"]]);
  expect((await viewPayment(reader, authorizationId)).amounts).toMatchObject({
    total: "0.25",
    counted: { amount: "0.28 USD", rate: "1.12 USD" },
  });
});

test("the pages of spending and of a mandate's budget count in USD", async () => {
  const buyer = await createBuyer();
  const reader = { organizationId: buyer.organizationId, environment: "sandbox" as const };
  const budgets = [{ period: "month", timezone: "UTC", amount: "5" }];
  const mandateId = await activeMandate(buyer.person.credential, { policy: inUsd({ budgets }) });
  await ask(buyer, mandateId);
  expect(await viewSpending(reader)).toMatchObject([{ asset: "USD", chain: "iso4217:USD", held: "0.5" }]);
  const { mandate, effect } = await viewMandate(reader, mandateId);
  expect(effect.reserved).toBe("0.5");
  expect((await viewBurnDown(mandate))?.usage).toMatchObject({ unit: "USD", available: "4.5" });
});
