import { eq } from "drizzle-orm";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { newPurchase, openBasket } from "./setup/purchase.ts";

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

test("requests to different payees are not approved together, and a request that asks for the password is decided alone", async ({
  page,
  context,
}) => {
  const purchase = await newPurchase();
  const first = await openBasket(purchase, [mug]);
  const other = await newPurchase();
  const second = await openBasket({ ...purchase, seller: other.seller }, [pen]);
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/approvals");
  await page.getByRole("button", { name: "Choose all" }).click();
  await expect(page.getByText("Only requests of one payee are approved together.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Review 2 together" })).toBeDisabled();
  const ids = [first, second].map((path) => `id=${path.split("/").at(-1)}`).join("&");
  await page.goto(`/approvals/together?${ids}`);
  // Nothing was paid to `other.seller` before, so the second request asks for a confirmation of identity.
  const alone = page.getByRole("region", { name: "Decide these on their own pages" });
  await expect(alone.getByText("It asks you to confirm who you are: it is the first payment to this seller.")).toBeVisible();
  await expect(alone.getByText("No other request can be approved with it.")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Approve/ })).toHaveCount(0);
  await expectAccessible(page);
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
