import { createECDH, randomBytes } from "node:crypto";
import { database } from "#lib/db/client.ts";
import { call } from "#lib/http/client.ts";
import { activateOrganization } from "#lib/identity/sessions/contract.ts";
import { member } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";
import { newOrganization } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askAPerson, newPurchase } from "./setup/purchase.ts";

test.use({ serviceWorkers: "allow" });

/**
 * A push subscription like those that browsers get from a push service. Chromium cannot reach such a service in tests, so
 * `allow` gives this subscription to the page.
 */
function subscription() {
  const pair = createECDH("prime256v1");
  const p256dh = pair.generateKeys("base64url");
  const keys = { p256dh, auth: randomBytes(16).toString("base64url") };
  return { endpoint: `https://push.example.com/${randomBytes(8).toString("hex")}`, expirationTime: null, keys };
}

const allow = (given: ReturnType<typeof subscription>): void => {
  Object.defineProperty(Notification, "permission", { get: () => "granted" });
  Notification.requestPermission = () => Promise.resolve("granted");
  PushManager.prototype.getSubscription = () => Promise.resolve(null);
  PushManager.prototype.subscribe = () => Promise.resolve({ toJSON: () => given } as unknown as PushSubscription);
};

test.describe("how a person is told about requests", () => {
  test("a browser gets messages after its owner allows them, and none after the owner switches them off", async ({
    page,
    context,
  }) => {
    const { credential } = await newOrganization();
    await signInAs(context, credential);
    await page.addInitScript(allow, subscription());
    await page.goto("/settings/security");
    const panel = page.getByRole("region", { name: "Messages to your devices" });
    await panel.getByRole("button", { name: "Turn on for this browser" }).click();
    await expect(panel.getByRole("row", { name: /This one/ })).toContainText("Shows neither payee nor amount");
    await panel.getByRole("checkbox", { name: /Show payee and amount/ }).check();
    await expect(panel.getByRole("row", { name: /This one/ })).toContainText("Shows payee and amount");
    await expectAccessible(page);
    await panel.getByRole("button", { name: "Turn off for this browser" }).click();
    await expect(panel.getByRole("button", { name: "Turn on for this browser" })).toBeVisible();
    await expect(panel.getByRole("row")).toHaveCount(0);
  });

  test("a message of another organization leads to its request, after a change of the organization", async ({
    page,
    context,
  }) => {
    const purchase = await newPurchase();
    const path = await askAPerson(purchase);
    const { userId, organizationId, credential } = purchase.buyer;
    const { organizationId: active } = await newOrganization();
    await database()
      .insert(member)
      .values({ id: newId("member"), organizationId: active, userId, role: "owner" });
    await call(activateOrganization, { organizationId: active }, { baseUrl: process.env["BASE_URL"] ?? "", headers: credential });
    await signInAs(context, credential);
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).not.toHaveText(/Approve|Confirm/);
    await page.goto(`${path}?organization=${organizationId}`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This request is not of the organization that is active");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Switch and open" }).click();
    await expect(page).toHaveURL(path);
    await expect(page.getByRole("button", { name: /^Approve / })).toBeEnabled();
    // The page does not show an organization of which the person is not a member.
    await page.goto(`${path}?organization=org_01kaj4n7v8e2m0x3c9t5q6r7s0`);
    await expect(page.getByRole("button", { name: /^Approve / })).toBeEnabled();
  });

  test("a browser that blocks notifications says what to do", async ({ page, context }) => {
    const { credential } = await newOrganization();
    await signInAs(context, credential);
    await page.goto("/settings/security");
    await expect(page.getByText("This browser blocks notifications from this site.")).toBeVisible();
    await expectAccessible(page);
  });

  test("quiet hours are stored with their time zone, and can be removed", async ({ page, context }) => {
    const { credential } = await newOrganization();
    await signInAs(context, credential);
    await page.goto("/settings/security");
    const panel = page.getByRole("region", { name: "Requests that wait" });
    await panel.getByRole("checkbox", { name: /Quiet hours/ }).check();
    await expect(panel.getByLabel("Time zone")).toHaveValue("Europe/Berlin");
    await panel.getByLabel("From").fill("21:30");
    await panel.getByLabel("To", { exact: true }).fill("21:30");
    await panel.getByRole("button", { name: "Save" }).click();
    await expect(panel.getByText("Choose two different times.")).toBeVisible();
    await panel.getByLabel("To", { exact: true }).fill("06:45");
    await expectAccessible(page);
    await panel.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Saved")).toBeVisible();
    await page.reload();
    await expect(panel.getByLabel("From")).toHaveValue("21:30");
    await expect(panel.getByLabel("To", { exact: true })).toHaveValue("06:45");
    await panel.getByRole("checkbox", { name: /Quiet hours/ }).uncheck();
    await panel.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Saved")).toBeVisible();
    await page.reload();
    await expect(panel.getByRole("checkbox", { name: /Quiet hours/ })).not.toBeChecked();
  });
});
