import { activate } from "./setup/activate.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askFor } from "./setup/paid.ts";
import { newPurchase } from "./setup/purchase.ts";

test("write a mandate in USD with two assets, and see what counts as what", async ({ page, context }) => {
  const purchase = await newPurchase();
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/mandates/new");
  await expect(page.getByRole("button", { name: "Save draft" })).toBeEnabled();
  await page.getByLabel("Name", { exact: true }).fill("Lab in dollars");
  await page.getByLabel("Limits are in").selectOption("USD");
  await page.getByLabel("1 USDC counts as").fill("1");
  await page.getByRole("button", { name: "Add an asset" }).click();
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByText("Fill this in.").first()).toBeVisible();
  await page.getByLabel("1 EURC counts as").fill("1.12");
  await page.getByLabel("Per payment").fill("1");
  await page.getByLabel("A day", { exact: true }).fill("5");
  await page.getByRole("radio", { name: /^Never/ }).check();
  await page.getByLabel("Also sellers that are not registered here").check();
  const rates = "1 USDC counts as 1 USD, 1 EURC as 1.12 USD, on Base Sepolia.";
  await expect(page.getByText(rates)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Lab in dollars" })).toBeVisible();
  const words = page.getByRole("region", { name: "In plain words" });
  await expect(words).toContainText("Agents may spend up to 5.00 USD a day, at most 1.00 USD in one payment.");
  await expect(words).toContainText(rates);
  await expectAccessible(page);

  const mandateId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await activate(mandateId, { baseUrl: process.env["BASE_URL"] ?? "", headers: purchase.buyer.credential });
  const authorizationId = await askFor({ ...purchase, mandateId }, "0.5");
  await page.goto(`/payments/${authorizationId}`);
  const amounts = page.getByRole("table", { name: "Amounts of this payment" });
  await expect(amounts.getByRole("row", { name: "Counts as, at 1 USD for 1 USDC" })).toContainText("0.50 USD");
  await page.goto("/payments");
  await expect(page.getByText("counts as 0.50 USD")).toBeVisible();
  await page.goto(`/mandates/${mandateId}`);
  await expect(page.getByText("for a payment of 0.50 USDC")).toBeVisible();

  await page.goto(`/mandates/${mandateId}/edit`);
  await expect(page.getByText("A mandate keeps this for life.")).toBeVisible();
  await page.getByLabel("1 EURC counts as").fill("1.2");
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await expect(words).toContainText("1 USDC counts as 1 USD, 1 EURC as 1.2 USD, on Base Sepolia.");
});
