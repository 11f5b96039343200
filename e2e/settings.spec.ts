import { call } from "#lib/http/client.ts";
import { createWebhookEndpoint } from "#lib/webhooks/contract.ts";
import { newMember, newOrganization } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";

/** A PNG of one pixel. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

test("the answers of the onboarding can be changed, and the logo is beside the name", async ({ page, context }) => {
  const owner = await newOrganization({ name: "Larkfield" });
  await signInAs(context, owner.credential);
  await page.goto("/settings/organization");
  await expectAccessible(page);
  await page.getByLabel("Name", { exact: true }).fill("Okapi Labs");
  await page.getByRole("checkbox", { name: /^Sell/ }).check();
  await page.getByLabel("Time zone of new mandates").selectOption("Asia/Tokyo");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("button", { name: /^Okapi Labs.*Buying and selling/ }).first()).toBeVisible();
  await page.getByLabel("Add a logo").setInputFiles({ name: "logo.png", mimeType: "image/png", buffer: PICTURE });
  const picture = page.getByRole("img", { name: "Logo" });
  await expect(picture).toBeVisible();
  await expect.poll(() => picture.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(128);
  await expectAccessible(page);
  await page.goto("/mandates/new");
  await expect(page.getByLabel("Time zone", { exact: true })).toHaveValue("Asia/Tokyo");
  await page.goto("/settings/audit");
  await expect(page.getByRole("main").getByText("Organization changed").first()).toBeVisible();
  await page.goto("/settings/organization");
  await page
    .getByLabel("Replace the logo")
    .setInputFiles({ name: "no.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
  await expect(page.getByRole("alert").filter({ hasText: "The logo was not changed" })).toBeVisible();
  await page.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByLabel("Add a logo")).toBeVisible();
});

test("only owners and admins change the settings", async ({ page, context }) => {
  const owner = await newOrganization();
  await signInAs(context, (await newMember(owner, "viewer")).credential);
  await page.goto("/settings/organization");
  await expect(page.getByText("Owners and admins")).toBeVisible();
  await expect(page.getByRole("link", { name: "Organization settings" })).toHaveCount(0);
});

test("a test of a webhook tells its outcome beside the button, with payload and next attempt", async ({ page, context }) => {
  const owner = await newOrganization();
  const asked = { baseUrl: process.env["BASE_URL"] ?? "", headers: owner.credential };
  const url = "https://hooks.nowhere.example/countersign";
  const { webhookEndpointId } = await call(createWebhookEndpoint, { body: { url, eventTypes: [], full: false } }, asked);
  await signInAs(context, owner.credential);
  await page.goto(`/settings/webhooks/${webhookEndpointId}`);
  await page.getByRole("button", { name: "Send a test" }).click();
  const outcome = page.getByRole("status").filter({ hasText: /next attempt/ });
  await expect(outcome).toContainText("Waiting");
  await page.getByRole("link", { name: "webhookEndpoint.tested" }).click();
  await expect(page.getByText('"status": "tested"')).toBeVisible();
  await expect(page.getByText("Next attempt").first()).toBeVisible();
  await expectAccessible(page);
});
