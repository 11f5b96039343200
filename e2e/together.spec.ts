import { eq } from "drizzle-orm";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { PASSWORD } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { changeCheckout, newPurchase, openBasket } from "./setup/purchase.ts";

const mug = { productId: "mug", name: "Enamel mug", color: "Blue", quantity: 1, unitAmount: "4.20" };
const pen = { productId: "pen", name: "Pen", quantity: 2, unitAmount: "2.10" };
const pad = { productId: "pad", name: "Writing pad", quantity: 1, unitAmount: "4.20" };

const approvalsOf = (organizationId: string) =>
  database().select().from(checkoutApprovals).where(eq(checkoutApprovals.organizationId, organizationId));

test("requests to one payee are reviewed and approved together, and each gets its own approval", async ({ page, context }) => {
  const purchase = await newPurchase();
  const paths: string[] = [];
  for (const line of [mug, pen, pad]) paths.push(await openBasket(purchase, [line]));
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/approvals");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Choose all" }).click();
  await expect(page.getByText("3 requests chosen")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Review 3 together" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Approve together" })).toBeVisible();
  for (const text of ["Enamel mug", "Pen", "Writing pad"])
    await expect(page.getByRole("rowheader", { name: text })).toBeVisible();
  await expectAccessible(page);
  const approve = page.getByRole("button", { name: `Approve 3, 12.60 USDC to ${purchase.seller.domain}` });
  await expect(approve).toHaveAttribute("aria-disabled", "false");
  await approve.click();
  // Nothing is approved yet, because the checkbox must be checked first.
  expect(await approvalsOf(purchase.buyer.organizationId)).toEqual([]);
  await page.getByRole("checkbox", { name: /^I have read all 3 requests/ }).check();
  // One of the requests is declined while the page still shows it.
  const declined = await page.evaluate(async (path) => {
    const id = path.split("/").at(-1);
    const headers = { "content-type": "application/json" };
    return (await fetch(`/api/v1/agent/commerce/checkouts/${id}/reject`, { method: "POST", headers, body: "{}" })).status;
  }, paths[1]!);
  expect(declined).toBe(200);
  await approve.click();
  await expect(page.getByText("2 of 3 requests approved.")).toBeVisible();
  await expect(page.getByText("Not approved: This checkout was already approved or declined.")).toHaveCount(1);
  await expect(page.getByRole("link", { name: /^Open request/ })).toHaveAttribute("href", paths[1]!);
  await expectAccessible(page);
  const approvals = await approvalsOf(purchase.buyer.organizationId);
  const approved = approvals.filter(({ status }) => status === "pending");
  expect(approved.map(({ checkoutIntentId }) => `/checkout/${checkoutIntentId}`).toSorted()).toEqual(
    [paths[0], paths[2]].toSorted(),
  );
  await page.getByRole("link", { name: "Back to the approvals" }).click();
  await expect(page.getByText("Nothing to approve")).toBeVisible();
});

/** An item at this price. */
const item = (productId: string, unitAmount: string) => ({ productId, name: `Item ${productId}`, quantity: 1, unitAmount });

test("three first payments at one unverified shop are approved with one password", async ({ page, context }) => {
  const purchase = await newPurchase({ known: false });
  await database().update(sellers).set({ verified: false }).where(eq(sellers.sellerId, purchase.seller.sellerId));
  const lines = [item("small", "7.50"), item("middle", "15"), item("large", "22.50")];
  for (const line of lines) await openBasket(purchase, [line], line.productId);
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/approvals");
  await page.getByRole("button", { name: "Choose all" }).click();
  await page.getByRole("button", { name: "Review 3 together" }).click();
  const password = page.getByLabel("Your password");
  await expect(password).toHaveAccessibleDescription(/first payment to a seller; together above the 25.00 USDC/);
  const decision = page.getByRole("form", { name: "Your decision" });
  await expect(decision.getByText(`45.00 USDC to ${purchase.seller.domain}`, { exact: true })).toBeVisible();
  await expectAccessible(page);
  const approve = page.getByRole("button", { name: `Approve 3, 45.00 USDC to ${purchase.seller.domain}` });
  await page.getByRole("checkbox", { name: /^I have read all 3 requests/ }).check();
  await password.fill("not the password");
  await approve.click();
  await expect(password).toHaveAccessibleDescription(/not your password/);
  expect(await approvalsOf(purchase.buyer.organizationId)).toEqual([]);
  await password.fill(PASSWORD);
  await approve.click();
  await expect(page.getByText("3 of 3 requests approved.")).toBeVisible();
  const approvals = await approvalsOf(purchase.buyer.organizationId);
  expect(approvals.map(({ status, approvedAmount }) => [status, approvedAmount]).toSorted()).toEqual(
    [15_000_000n, 22_500_000n, 7_500_000n].map((amount) => ["pending", amount]),
  );
});

test("requests to two payees name both, and one that is declined meanwhile is named before anything is approved", async ({
  page,
  context,
}) => {
  const purchase = await newPurchase();
  const first = await openBasket(purchase, [mug]);
  const other = await newPurchase({ known: false });
  await openBasket({ ...purchase, seller: other.seller }, [pen]);
  await openBasket({ ...purchase, seller: other.seller }, [pad]);
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/approvals");
  await page.getByRole("button", { name: "Choose all" }).click();
  await page.getByRole("button", { name: "Review 3 together" }).click();
  const decision = page.getByRole("form", { name: "Your decision" });
  await expect(decision.getByText(`4.20 USDC to ${purchase.seller.domain}`, { exact: true })).toBeVisible();
  await expect(decision.getByText(`8.40 USDC to ${other.seller.domain}`, { exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("checkbox", { name: /^I have read all 3 requests/ }).check();
  await page.getByLabel("Your password").fill(PASSWORD);
  await changeCheckout(first, { status: "rejected" });
  await page.getByRole("button", { name: "Approve 3, 12.60 USDC to 2 payees" }).click();
  await expect(
    page.getByText(/Nothing was approved\. Request \d of 3: This checkout was already approved or declined\./),
  ).toBeVisible();
  expect(await approvalsOf(purchase.buyer.organizationId)).toEqual([]);
  const alone = page.getByRole("region", { name: "Decide these on their own pages" });
  await expect(alone.getByText("It is not open any more.")).toBeVisible();
  await page.getByLabel("Your password").fill(PASSWORD);
  await page.getByRole("checkbox", { name: /^I have read all 2 requests/ }).check();
  await page.getByRole("button", { name: `Approve 2, 8.40 USDC to ${other.seller.domain}` }).click();
  await expect(page.getByText("2 of 2 requests approved.")).toBeVisible();
});

test("any number of requests can be declined together, with one reason", async ({ page, context }) => {
  const purchase = await newPurchase();
  const other = await newPurchase();
  for (const [seller, line] of [
    [purchase.seller, mug],
    [other.seller, pen],
    [purchase.seller, pad],
  ] as const)
    await openBasket({ ...purchase, seller }, [line]);
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/approvals");
  await page.getByRole("button", { name: "Choose all" }).click();
  await page.getByRole("button", { name: "Decline 3", exact: true }).click();
  await page.getByLabel("Reason (optional)").fill("The agent repeats itself.");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Decline 3 requests" }).click();
  await expect(page.getByText("Nothing to approve")).toBeVisible();
  const rows = await database()
    .select({ status: checkoutIntents.status })
    .from(checkoutIntents)
    .where(eq(checkoutIntents.organizationId, purchase.buyer.organizationId));
  expect(rows.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  const reasons = (await approvalsOf(purchase.buyer.organizationId)).map(({ reason }) => reason);
  expect(new Set(reasons)).toEqual(new Set(["The agent repeats itself."]));
});
