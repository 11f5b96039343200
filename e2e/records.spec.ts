import { call } from "#lib/http/client.ts";
import { createMandate, getMandate } from "#lib/mandates/contract.ts";
import { authorizePayment } from "#lib/payments/contract.ts";
import { recordPayment } from "#lib/payments/executions/record-contract.ts";
import { newKey, PASSWORD } from "#test/identity.ts";
import { localChainId } from "../examples/chain.ts";
import { activate } from "./setup/activate.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askFor } from "./setup/paid.ts";
import { newPurchase } from "./setup/purchase.ts";

const at = (headers: Readonly<Record<string, string>>) => ({ baseUrl: process.env["BASE_URL"] ?? "", headers });
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
  await page.waitForURL(`**/mandates/${mandateId}`);
  expect((await call(getMandate, { id: mandateId }, at(buyer.credential))).policy).toMatchObject({
    assets: [{ asset: "USDC" }, { ...usd, counts: "1" }],
    rails: ["x402", "record"],
    records: { payees: [{ kind: "iban", value: iban }], deadline: "P30D" },
    limits: { total: "600" },
  });
});

/** What an agent asks for. */
const invoice = (reference: string) => ({
  paymentChallengeType: "record" as const,
  seller: { name: "Ink and Co" },
  payee: { kind: "iban" as const, value: iban },
  reference,
  amount: "300",
  ...usd,
  expiresAt: new Date(Date.now() + 900_000).toISOString(),
  idempotencyKey: reference.replaceAll(/[^0-9A-Z]/g, "-"),
});

test("see what went over which rail, what a revocation keeps, and which payments wait to be closed", async ({
  page,
  context,
}) => {
  const purchase = await newPurchase();
  const { buyer } = purchase;
  const policy = {
    unit: "USD" as const,
    assets: [
      { asset: "USDC", chain: localChainId, counts: "1" },
      { ...usd, counts: "1" },
    ],
    rails: ["x402" as const, "record" as const],
    records: { payees: [{ kind: "iban" as const, value: iban }] },
    limits: { perPayment: "500", total: "500" },
  };
  const { mandateId } = await call(createMandate, { body: { name: "Lab and invoices", policy } }, at(buyer.credential));
  await activate(mandateId, at(buyer.credential));
  await askFor({ ...purchase, mandateId }, "0.5");
  const agent = at((await newKey(buyer, ["payments:authorize", "payments:execute", "payments:read"])).credential);
  const { authorizationId } = await call(authorizePayment, { body: { mandateId, intent: invoice("RE 118") } }, agent);
  const part = { outcome: "partlyPaid" as const, asset: "USD" };
  await call(recordPayment, { authorizationId, body: { ...part, idempotencyKey: "one", amount: "120" } }, agent);

  await signInAs(context, buyer.credential);
  await page.goto(`/mandates/${mandateId}`);
  const used = page.getByRole("region", { name: "Used" });
  await expect(used.getByText("Since it was made, by rail")).toBeVisible();
  await expect(used).toContainText("By x4020.00 USD0.50 USD held");
  await expect(used).toContainText("Made elsewhere120.00 USD180.00 USD held");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke" }).click();
  const dialog = page.getByRole("dialog", { name: "Revoke this mandate permanently" });
  await expect(dialog).toContainText("0.50 USD is held under it. Payments that were not sent yet are canceled.");
  await expect(dialog).toContainText(
    "180.00 USD stays held for payments that are made by card or elsewhere, until they are closed.",
  );
  await page.keyboard.press("Escape");

  await call(recordPayment, { authorizationId, body: { ...part, idempotencyKey: "two", amount: "200" } }, agent);
  await page.goto("/approvals");
  await expect(page).toHaveTitle(/^\(1\)/);
  const asking = page.getByRole("region", { name: "Payments to close" });
  await expect(asking).toContainText("More was paid than was held.");
  await expect(asking).toContainText("320.00 USD recorded as paid");
  await expectAccessible(page);
  await asking.getByRole("link", { name: "Close 300.00 USD to Ink and Co" }).click();
  await page.getByRole("button", { name: "Record or close" }).click();
  const closing = page.getByRole("dialog", { name: "What happened to this payment" });
  await closing.getByLabel("What happened").selectOption("Nothing more was paid");
  await closing.getByRole("button", { name: "Record" }).click();
  await expect(page.getByRole("region", { name: "Recorded and closed" })).toBeVisible();
  await page.goto("/approvals");
  await expect(page.getByRole("heading", { level: 1, name: "Approvals" })).toBeVisible();
  await expect(asking).toBeHidden();
  await page.goto("/spending");
  await expect(page.getByRole("region", { name: "Spending by mandate" }).first()).toContainText("320.00 USD");
});

test("a person sees account, reference and what it counts as on one screen, and lets the agent pay elsewhere", async ({
  page,
  context,
}) => {
  const { buyer } = await newPurchase();
  const policy = {
    unit: "USD" as const,
    assets: [{ asset: "EUR", chain: "iso4217:EUR", counts: "1.12" }],
    rails: ["record" as const],
    limits: { perPayment: "500", total: "500" },
  };
  const { mandateId } = await call(createMandate, { body: { name: "Invoices", policy } }, at(buyer.credential));
  await activate(mandateId, at(buyer.credential));
  const agent = at((await newKey(buyer, ["payments:authorize", "payments:execute", "payments:read"])).credential);
  const intent = { ...invoice("RE 119"), asset: "EUR", chain: "iso4217:EUR" };
  await call(authorizePayment, { body: { mandateId, intent } }, agent);

  await signInAs(context, buyer.credential);
  await page.goto("/approvals");
  await page.getByRole("link", { name: "Review 300.00 EUR to Ink and Co" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Ink and Co" })).toBeVisible();
  await expect(page.getByText("Nobody has checked this name, or whose account it is.")).toBeVisible();
  for (const [name, value] of [
    ["Account", "IBAN …3000"],
    ["Reference", "RE 119"],
    ["Counts as", "336.00 USD"],
  ] as const) {
    await expect(page.getByRole("definition").filter({ hasText: value }).first()).toBeInViewport();
    await expect(page.getByRole("term").filter({ hasText: name }).first()).toBeInViewport();
  }
  await expect(page.getByRole("region", { name: "What approving does" })).toContainText("At once, and cannot be taken back");
  await expectAccessible(page);
  await page.getByLabel("Your password, to approve").fill(PASSWORD);
  await page.getByRole("button", { name: /^Approve 300.00 EUR/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Approved. The agent pays elsewhere." })).toBeVisible();
  await expect(page.getByRole("region", { name: "What happens next" })).toContainText("A person closes the payment");
  await expectAccessible(page);
});

test("an agent records an invoice in parts, and a person closes it", async ({ page, context }) => {
  const { buyer } = await newPurchase();
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
  const { authorizationId } = await call(authorizePayment, { body: { mandateId, intent: invoice("RE 2026/117") } }, agent);
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
