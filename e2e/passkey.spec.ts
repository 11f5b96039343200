import type { CDPSession, Page } from "@playwright/test";
import { getMandate, updateMandate } from "#lib/mandates/contract.ts";
import { call } from "#lib/http/client.ts";
import { PASSWORD } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askAPerson, newPurchase, type Purchase } from "./setup/purchase.ts";

const approve = /^Approve 43.00 USDC to /;

/** Adds a virtual device with a fingerprint reader, which by default recognizes its owner. */
async function plugIn(
  page: Page,
  isUserVerified = true,
): Promise<{ readonly cdp: CDPSession; readonly authenticatorId: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

async function askForPasskeys({ buyer, mandateId }: Purchase): Promise<void> {
  const at = { baseUrl: process.env["BASE_URL"] ?? "", headers: buyer.credential };
  const { policy } = await call(getMandate, { id: mandateId }, at);
  await call(updateMandate, { id: mandateId, body: { policy: { ...policy, minimumAssuranceLevel: "passkeyApproved" } } }, at);
}

test("a passkey is added, signs in, and approves a checkout that requires one", async ({ page, context }) => {
  const purchase = await newPurchase();
  await askForPasskeys(purchase);
  const path = await askAPerson(purchase);
  await plugIn(page);
  await signInAs(context, purchase.buyer.credential);

  await page.goto(path);
  await expect(page.getByText("This payment is approved with a passkey.")).toBeVisible();
  await expect(page.getByRole("button", { name: approve })).toBeDisabled();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Add one, then come back here" }).click();

  await expect(page.getByRole("heading", { level: 1, name: "Security" })).toBeVisible();
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Test laptop");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create the passkey" }).click();
  await expect(page.getByRole("row", { name: /Test laptop/ })).toBeVisible();
  await expectAccessible(page);

  await context.clearCookies();
  await page.goto(path);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(page).toHaveURL(path);
  await expect(page.getByText("You confirm with your passkey")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: approve }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");

  await page.goto("/settings/security");
  await expect(page.getByRole("row", { name: /This one.*Passkey/ })).toBeVisible();
});

test("a device that does not recognize its owner approves nothing", async ({ page, context }) => {
  const purchase = await newPurchase();
  await askForPasskeys(purchase);
  const path = await askAPerson(purchase);
  const { cdp, authenticatorId } = await plugIn(page);
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/settings/security");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Test laptop");
  await page.getByRole("button", { name: "Create the passkey" }).click();
  await expect(page.getByRole("row", { name: /Test laptop/ })).toBeVisible();
  await page.goto(path);
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await page.getByRole("button", { name: approve }).click();
  await expect(page.getByText("Nothing was approved.")).toBeVisible();
  await expect(page.getByText("No passkey was used")).toBeVisible();
  await expectAccessible(page);
});

test("a person ends the other sessions, and changes the password", async ({ page, context, browser }) => {
  const { buyer } = await newPurchase();
  const other = await browser.newContext({ extraHTTPHeaders: { "X-Forwarded-For": "10.77.1.9" } });
  const elsewhere = await other.newPage();
  await elsewhere.goto("/sign-in?returnTo=/settings/security");
  await elsewhere.getByLabel("E-mail", { exact: true }).fill(buyer.email);
  await elsewhere.getByLabel("Password").fill(PASSWORD);
  await elsewhere.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(elsewhere.getByRole("heading", { level: 1, name: "Security" })).toBeVisible();

  await signInAs(context, buyer.credential);
  await page.goto("/settings/security");
  await page.getByRole("button", { name: "End all other sessions" }).click();
  await expect(page.getByText("1 session ended")).toBeVisible();
  await elsewhere.reload();
  await expect(elsewhere).toHaveURL(/\/sign-in/);
  await other.close();

  await page.getByLabel("Current password").fill("not the password");
  await page.getByLabel("New password").fill("another long password");
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByLabel("Current password")).toHaveAccessibleDescription(/not your password/);
  await expectAccessible(page);
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByText("Password changed.")).toBeVisible();
});
