import type { Page } from "@playwright/test";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { call } from "#lib/http/client.ts";
import { session } from "#lib/identity/tables.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { PASSWORD, newOrganization, type Owner } from "#test/identity.ts";
import { localChainId } from "../examples/chain.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askFor } from "./setup/paid.ts";
import { newPurchase } from "./setup/purchase.ts";

/** Creates an active mandate that also allows sellers which are not registered, such as the sample sellers. */
async function activeMandate({ credential }: Owner, limits: Policy["limits"], rules: Partial<Policy> = {}): Promise<string> {
  const as = { baseUrl: process.env["BASE_URL"] ?? "", headers: credential };
  const assets: Policy["assets"] = [{ asset: "USDC", chain: localChainId }];
  const policy: Policy = { assets, limits, sellers: { unregistered: "allow" }, ...rules };
  const { mandateId } = await call(createMandate, { body: { name: "Small payments", policy } }, as);
  await call(activateMandate, { id: mandateId }, as);
  return mandateId;
}

test("a template fills in the form completely, and its mandate pays nothing until a person activates it", async ({
  page,
  context,
}) => {
  const buyer = await newOrganization();
  await signInAs(context, buyer.credential);
  await page.goto("/mandates/new");
  await page.getByRole("link", { name: /^Research agent: 5 USDC a day/ }).click();
  await expect(page.getByText("Agents may spend up to 5.00 USDC a day, at most 1.00 USDC in one payment.")).toBeVisible();
  await page.getByRole("link", { name: /^Read-only trial/ }).click();
  await expect(page).toHaveURL("/mandates/new?template=trial");
  await expect(page.getByLabel("In all")).toHaveValue("5");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Read-only trial" })).toBeVisible();
  await expect(page.getByText("This is a draft.")).toBeVisible();
});

/** Returns a function that tells how often the pointer was pressed. The caller adds one for each field that it fills in. */
async function countPresses(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    window.addEventListener(
      "pointerdown",
      () => sessionStorage.setItem("presses", String(Number(sessionStorage.getItem("presses")) + 1)),
      { capture: true },
    );
  });
  return () => page.evaluate(() => Number(sessionStorage.getItem("presses")));
}

test("a new account reaches a settled test payment and its receipt in at most 12 clicks, without a terminal", async ({
  page,
}) => {
  await page.goto("/sign-up");
  await page.getByLabel("Name").fill("Mira Okafor");
  await page.getByLabel("E-mail").fill(`${crypto.randomUUID()}@example.com`);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Set up your organization" })).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("Okafor Weather Notes");
  await page.getByRole("button", { name: "Create organization" }).click();
  await expect(page).toHaveURL("/get-started");
  const presses = await countPresses(page);
  await page.reload();
  await expect(page.getByText("0 of 5 done")).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("link", { name: "Create a key" }).click();
  await page.getByRole("button", { name: "New service account" }).click();
  await page.getByLabel("Name").fill("Weather agent");
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: /Save the key/ });
  await dialog.getByLabel("I saved it in a safe place").check();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Next: write a mandate" }).click();
  await page.getByRole("link", { name: /^Research agent/ }).click();
  await expect(page.getByLabel("Per payment")).toHaveValue("1");
  await page.getByRole("button", { name: "Save draft" }).click();
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByRole("link", { name: "Next: make a test payment" }).click();
  await page.getByRole("button", { name: "Pay 0.002 USDC for a forecast" }).click();
  await expect(page.getByText("The seller has the money and delivered.")).toBeVisible({ timeout: 30_000 });
  const filled = 1;
  expect((await presses()) + filled).toBeLessThanOrEqual(12);

  await expect(page.getByRole("heading", { name: "Done: Make a test payment" })).toBeVisible();
  await expect(page.getByText("4 of 5 done")).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Buy a pack of stickers for 0.75 USDC" }).click();
  await expect(
    page.getByText("This page continues automatically. If you leave it, the payment waits until you come back."),
  ).toBeVisible();
  // This installation has no https address, so the page says why a phone cannot open the request.
  await expect(page.getByText(/an address of this machine, so a phone cannot open it/)).toBeVisible();
  await expectAccessible(page);
  const review = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "Review the request" }).click();
  const request = await review;
  await expect(request.getByText("Mira Okafor (you, test payment) wants a pack of stickers from")).toBeVisible();
  await expect(request.getByText(/revoked|usr_/)).toHaveCount(0);
  // The page of the test payment is left while the request is open.
  await page.goto("/home");
  await request.getByLabel("Your password").fill(PASSWORD);
  await request.getByRole("button", { name: /^Approve 0.75 USDC/ }).click();
  await expect(request.getByRole("heading", { level: 1, name: /^Approved/ })).toBeVisible();
  await expect(request.getByRole("link", { name: "Get started", exact: true }).last()).toHaveAttribute(
    "href",
    "/get-started#sample",
  );
  await page.goto("/get-started");
  await expect(page.getByText("5 of 5 done")).toBeVisible({ timeout: 30_000 });
  await page.getByRole("link", { name: "its receipt" }).click();
  await expect(page.getByRole("heading", { level: 1, name: /receipt/i })).toBeVisible();
  await expect(page.getByText("Mira Okafor (you, test payment)")).toBeVisible();
});

test("a denied test payment completes no step and leads to the change that would have allowed it", async ({ page, context }) => {
  const buyer = await newOrganization();
  await activeMandate(buyer, { perPayment: "0.001", budgets: [{ period: "day", timezone: "UTC", amount: "5" }] });
  await signInAs(context, buyer.credential);
  await page.goto("/get-started");
  await page.getByRole("button", { name: "Pay 0.002 USDC for a forecast" }).click();
  await expect(page.getByText("Denied. Nothing was paid.")).toBeVisible();
  await expect(page.getByText(/^A payment was denied: This payment of 0.002 USDC is above the limit/)).toBeVisible();
  await expect(page.getByRole("link", { name: "Raise the limit per payment to 0.002 USDC" })).toBeVisible();
  await expect(page.getByRole("heading", { name: /: Make a test payment$/ })).not.toHaveText(/^Done/);
  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page);
  await page.getByRole("link", { name: "See what would have allowed it" }).click();
  await expect(page).toHaveURL(/\/payments\/aut_/);
});

test("a denial is fixed from its page: the field opens with the new value, the difference and what else would be allowed", async ({
  page,
  context,
}) => {
  const purchase = await newPurchase();
  const { buyer, mandateId } = purchase;
  await signInAs(context, buyer.credential);
  const first = await askFor(purchase, "120");
  const second = await askFor(purchase, "110");

  await page.goto("/approvals");
  const refused = page.getByRole("region", { name: "Refused" });
  await expect(refused.getByRole("link", { name: "Raise the limit per payment to 110.00 USDC" })).toBeVisible();
  await expectAccessible(page);

  await page.goto(`/payments/${first}`);
  await page.getByRole("link", { name: "Fix it: Raise the limit per payment to 120.00 USDC" }).click();
  await expect(page).toHaveURL(new RegExp(`/mandates/${mandateId}/edit\\?fix=pd_[0-9a-z]{26}$`));
  await expect(page.getByLabel("Per payment")).toBeFocused();
  await expect(page.getByLabel("Per payment")).toHaveValue("120");
  const fix = page.getByRole("region", { name: "Fix this denial" });
  await expect(fix).toContainText("at most 100.00 USDC in one payment");
  await expect(fix).toContainText("at most 120.00 USDC in one payment");
  await expect(fix.getByText("Needs approval")).toBeVisible();
  await expect(fix.locator(`a[href="/payments/${second}"]`)).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save as version 2" }).click();
  // The wider mandate lets more than 100 USDC through, so saving it asks for the password, and then goes on by itself.
  const proof = page.getByRole("dialog", { name: "Confirm that it is you" });
  await expect(proof.getByText(/this lets 250\.00 USDC through/)).toBeVisible();
  await expectAccessible(page);
  await proof.getByLabel("Your password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await expect(page.getByText("Version 2 is in force")).toBeVisible();

  await page.goto(`/payments/${first}`);
  await expect(page.getByText("Under the mandate as it is now, this request would pass.")).toBeVisible();
});

test("saving a fix asks for the password again if the person signed in long ago", async ({ page, context }) => {
  const purchase = await newPurchase();
  const { buyer } = purchase;
  const denied = await askFor(purchase, "120");
  await signInAs(context, buyer.credential);
  await database()
    .update(session)
    .set({ provedAt: new Date(Date.now() - 3_600_000) })
    .where(eq(session.userId, buyer.userId));
  await page.goto(`/payments/${denied}`);
  await page.getByRole("link", { name: "Fix it", exact: true }).click();
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await expect(page.getByLabel("Your password")).toBeVisible();
  await expect(page.getByText("Version 1 is in force")).toBeVisible();
});

test("a person allows a refused payment once, with their password; the agent asks again and pays", async ({ page, context }) => {
  const purchase = await newPurchase();
  const { buyer, mandateId } = purchase;
  const denied = await askFor(purchase, "120");
  await signInAs(context, buyer.credential);
  await database()
    .update(session)
    .set({ provedAt: new Date(Date.now() - 3_600_000) })
    .where(eq(session.userId, buyer.userId));

  await page.goto(`/payments/${denied}`);
  await page.getByRole("link", { name: "Fix it", exact: true }).click();
  await expect(
    page.getByRole("region", { name: "Fix this denial" }).getByRole("button", { name: "Allow this once" }),
  ).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page);
  await page.goto(`/payments/${denied}`);
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  const allow = page.getByRole("button", { name: "Allow this once" });
  await allow.click();
  await page.getByLabel("Your password").fill(PASSWORD);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Confirm", exact: true }).click();
  await expect(page.getByText(/allowed this payment once\. It can be asked for again until/)).toBeVisible();
  await expect(allow).toBeHidden();
  await expectAccessible(page);

  const passed = await askFor(purchase, "120");
  await expect(page.getByRole("link", { name: "that payment" })).toHaveAttribute("href", `/payments/${passed}`);
  await page.goto(`/payments/${passed}`);
  await expect(page.getByText(/^Allowed once by a person under/)).toBeVisible();
  await expect(
    page.getByText(/A person allowed this one payment of 120\.00 USDC, above the limit of 100\.00 USDC/),
  ).toBeVisible();
  await expectAccessible(page);
  await page.goto(`/mandates/${mandateId}/edit`);
  await expect(page.getByText("Version 1 is in force")).toBeVisible();
});

test("leaving a mandate that is not saved asks for confirmation, and leaving a saved one does not", async ({ page, context }) => {
  const buyer = await newOrganization();
  await signInAs(context, buyer.credential);
  await page.goto("/mandates");
  await page.getByRole("link", { name: "New mandate" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("Half written");
  const asked: string[] = [];
  page.on("dialog", (dialog) => {
    asked.push(dialog.message());
    void (asked.length < 3 ? dialog.dismiss() : dialog.accept());
  });
  await page.getByRole("link", { name: "Mandates" }).first().click();
  await expect.poll(() => asked.length).toBe(1);
  expect(asked[0]).toContain("Leave without saving?");
  await page.evaluate(() => history.back());
  await expect.poll(() => asked.length).toBe(2);
  await expect(page).toHaveURL("/mandates/new");
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Half written");
  await page.getByRole("link", { name: "Mandates" }).first().click();
  await expect(page).toHaveURL("/mandates");

  await page.goto("/mandates/new?template=trial");
  await page.getByLabel("Name", { exact: true }).fill("Trial of the new agent");
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Trial of the new agent" })).toBeVisible();
  await page.getByRole("link", { name: "Mandates" }).first().click();
  await expect(page).toHaveURL("/mandates");
  expect(asked).toHaveLength(3);
});
