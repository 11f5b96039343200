import { call } from "#lib/http/client.ts";
import { createMandate, getMandate } from "#lib/mandates/contract.ts";
import { authorizePayment } from "#lib/payments/contract.ts";
import { recordPayment } from "#lib/payments/executions/record-contract.ts";
import { newKey, PASSWORD } from "#test/identity.ts";
import { activate } from "./setup/activate.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { newPurchase } from "./setup/purchase.ts";

const usd = { asset: "USD", chain: "iso4217:USD" };

const iban = "DE89 3704 0044 0532 0130 00";

test("write a mandate in USD with two assets and the payees of records, and change it", async ({ page, context }) => {
  const { buyer } = await newPurchase();
  await signInAs(context, buyer.credential);
  await page.goto("/mandates/new");
  await expect(page.getByRole("button", { name: "Save draft" })).toBeEnabled();
  await page.getByLabel("Name", { exact: true }).fill("Lab and invoices");
  await expect(page.getByRole("checkbox", { name: /^Payments made elsewhere/ })).toBeDisabled();
  await page.getByLabel("Limits are in").selectOption("USD");
  await page.getByLabel("1 USDC counts as").fill("1");
  await page.getByRole("checkbox", { name: /^Payments made elsewhere/ }).check();
  await expect(page.getByLabel("1 USD counts as")).toHaveValue("1");
  await page.getByRole("radio", { name: /^Payees that I list/ }).check();
  await page.getByRole("button", { name: "Add a payee" }).click();
  await page.getByLabel("Per payment").fill("500");
  await page.getByLabel("In all").fill("500");
  await page.getByRole("radio", { name: /^Never/ }).check();
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByText("Fill this in.")).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel("Payee 1", { exact: true }).fill(iban);
  await page.getByLabel(/^Days until/).fill("30");
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Lab and invoices" })).toBeVisible();
  const words = page.getByRole("region", { name: "In plain words" });
  await expect(words).toContainText("Only payments by x402 and payments that are made elsewhere and recorded here.");
  await expect(words).toContainText(`Recorded payments go to ${iban}. Ask me about others.`);
  await expect(words).toContainText("They are recorded in 30 days at the latest. 1 USDC counts as 1 USD, on Base Sepolia.");

  const mandateId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.goto(`/mandates/${mandateId}/edit`);
  await expect(page.getByLabel("Payee 1", { exact: true })).toHaveValue(iban);
  await page.getByLabel("In all").fill("600");
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Lab and invoices" })).toBeVisible();
  const as = { baseUrl: process.env["BASE_URL"] ?? "", headers: buyer.credential };
  expect((await call(getMandate, { id: mandateId }, as)).policy).toMatchObject({
    assets: [{ asset: "USDC" }, { ...usd, counts: "1" }],
    rails: ["x402", "record"],
    records: { payees: [{ kind: "iban", value: iban }], deadline: "P30D" },
    limits: { total: "600" },
  });
});

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
    payee: { kind: "iban" as const, value: iban },
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
