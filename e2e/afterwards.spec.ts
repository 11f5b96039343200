import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askAPerson, changeCheckout, newPurchase, openRequest } from "./setup/purchase.ts";

const approve = /^Approve 43.00 USDC to /;

test("after an approval the page says what happens now and what remains, and the approval can be taken back", async ({
  page,
  context,
}) => {
  const { purchase } = await openRequest({ page, context });
  await page.getByRole("button", { name: approve }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
  const remains = page.getByRole("region", { name: "What remains" });
  await expect(remains).toContainText("207.00 USDC of 250.00 USDC a month, under the mandate Lab supplies.");
  await expect(page.getByRole("link", { name: "Look at the payment" })).toHaveAttribute("href", /^\/payments\/aut_/);
  await expect(page).toHaveTitle(`43.00 USDC to ${purchase.seller.domain} – Approved · Countersign`);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Take back" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The approval was taken back");
  await expect(page.getByText(/^Taken back by /)).toBeVisible();
  await expect(page).toHaveTitle(/ – Taken back · Countersign$/);
  await expect(page.getByRole("main")).toBeFocused();
  await expectAccessible(page);
  await page.getByRole("link", { name: "All approvals" }).click();
  await expect(page).toHaveURL(/\/approvals$/);
});

test("an approval that the agent has used cannot be taken back", async ({ page, context }) => {
  const { path } = await openRequest({ page, context });
  await page.getByRole("button", { name: approve }).click();
  await expect(page.getByRole("button", { name: "Take back" })).toBeVisible();
  await changeCheckout(path, { status: "authorized" });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. The agent continues.");
  await expect(page.getByRole("button", { name: "Take back" })).toHaveCount(0);
});

test("a request gets more time, once", async ({ page, context }) => {
  const purchase = await newPurchase();
  const path = await askAPerson(purchase);
  await changeCheckout(path, { expiresAt: new Date(Date.now() + 200_000) });
  await signInAs(context, purchase.buyer.credential);
  await page.goto(path);
  const decision = page.getByRole("region", { name: "Your decision" });
  await expect(decision.getByText(/Open for 3 min/)).toBeVisible();
  await expectAccessible(page);
  await decision.getByRole("button", { name: "More time" }).click();
  await expect(decision.getByText(/Open for 14 min/)).toBeVisible();
  await expect(page.getByRole("button", { name: "More time" })).toHaveCount(0);
});

test("the agent that asks is paused and resumed on the page", async ({ page, context }) => {
  const { purchase } = await openRequest({ page, context });
  const asks = page.getByRole("region", { name: "Who asks" });
  await asks.getByRole("button", { name: "Pause this agent" }).click();
  await expect(page.getByText("This agent is paused: it cannot use an approval until somebody resumes it.")).toBeVisible();
  await expectAccessible(page);
  await page.goto(`/settings/keys/${purchase.agent.serviceAccountId}`);
  await expect(page.getByText("Paused", { exact: true }).first()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Resume this agent" }).click();
  await expect(page.getByRole("button", { name: "Pause this agent" })).toBeVisible();
});
