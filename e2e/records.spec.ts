import { call } from "#lib/http/client.ts";
import { createMandate } from "#lib/mandates/contract.ts";
import { authorizePayment } from "#lib/payments/contract.ts";
import { recordPayment } from "#lib/payments/executions/record-contract.ts";
import { newKey, PASSWORD } from "#test/identity.ts";
import { activate } from "./setup/activate.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { newPurchase } from "./setup/purchase.ts";

const usd = { asset: "USD", chain: "iso4217:USD" };

test("an agent records an invoice in parts, and a person closes it", async ({ page, context }) => {
  const { buyer } = await newPurchase();
  const at = (headers: Readonly<Record<string, string>>) => ({ baseUrl: process.env["BASE_URL"] ?? "", headers });
  const policy = {
    unit: "USD" as const,
    assets: [{ ...usd, counts: "1" }],
    rails: ["record" as const],
    records: { payees: "any" as const },
    limits: { perPayment: "500", total: "500" },
  };
  const { mandateId } = await call(createMandate, { body: { name: "Invoices", policy } }, at(buyer.credential));
  await activate(mandateId, at(buyer.credential));
  const agent = at((await newKey(buyer, ["payments:authorize", "payments:execute", "payments:read"])).credential);
  const intent = {
    paymentChallengeType: "record" as const,
    seller: { name: "Ink and Co" },
    payee: { kind: "iban" as const, value: "DE89 3704 0044 0532 0130 00" },
    reference: "RE 2026/117",
    amount: "300",
    ...usd,
    expiresAt: new Date(Date.now() + 900_000).toISOString(),
    idempotencyKey: "invoice-117",
  };
  const { authorizationId } = await call(authorizePayment, { body: { mandateId, intent } }, agent);
  const part = { idempotencyKey: "part-1", outcome: "partlyPaid" as const, amount: "120", asset: "USD" };
  await call(recordPayment, { authorizationId, body: part }, agent);

  await signInAs(context, buyer.credential);
  await page.goto(`/payments/${authorizationId}`);
  const recorded = page.getByRole("region", { name: "Recorded" });
  await expect(recorded).toContainText("120.00 USD");
  await expect(recorded).toContainText("180.00 USD");
  await expect(recorded.getByRole("listitem")).toHaveText(/^Paid in part, as the agent says/);
  await expectAccessible(page);

  await recorded.getByRole("button", { name: "Record or close" }).click();
  const dialog = page.getByRole("dialog", { name: "What happened to this payment" });
  await dialog.getByLabel("What happened").selectOption("Nothing more was paid");
  await expect(dialog.getByLabel("Amount in USD")).toHaveValue("0");
  await dialog.getByLabel("Your reference").fill("Letter of 21 November");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Record" }).click();
  const proof = page.getByRole("dialog", { name: "Confirm that it is you" });
  await proof.getByLabel("Your password").fill(PASSWORD);
  await proof.getByRole("button", { name: /Confirm/ }).click();
  const closed = page.getByRole("region", { name: "Recorded and closed" });
  await expect(closed.getByRole("listitem").first()).toContainText("Letter of 21 November");
  await expect(closed).toContainText("0.00 USD");
  await expect(page.getByRole("region", { name: "What happened" })).toContainText("Closed");
  await page.goto(`/mandates/${mandateId}`);
  await expect(page.getByText("Released").first()).toBeVisible();
  await expectAccessible(page);
});
