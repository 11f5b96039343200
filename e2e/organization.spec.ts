import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { session } from "#lib/identity/tables.ts";
import { newKey, newMember, newOrganization, newPerson, PASSWORD } from "#test/identity.ts";
import { linkTo } from "#test/mail.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";

/**
 * Checks the page at the width of the narrowest phone, where a dialog has the least room. pages.spec.ts checks the pages
 * without open dialogs.
 */
async function expectAccessibleOnPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
}

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

test.describe("the organization", () => {
  test("a form waits for the code that checks it, and says what to do if the code does not load", async ({ page, context }) => {
    const { promise: later, resolve: letThrough } = Promise.withResolvers<void>();
    const scripts = /\/_next\/static\/.*\.js/;
    const invitations: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().endsWith("/invitations")) invitations.push(request.url());
    });
    await signInAs(context, (await newOrganization()).credential);
    await page.goto("/mandates/new");
    await page.waitForLoadState("networkidle");
    await page.route(scripts, (route) => route.abort());
    await page.getByRole("button", { name: "Save draft" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "Nothing was saved." })).toContainText("reload the page");
    await page.unroute(scripts);
    await page.getByRole("button", { name: "Save draft" }).click();
    await expect(page.getByLabel("Name", { exact: true })).toHaveAccessibleDescription(/Fill this in/);

    await page.goto("/settings/members");
    await page.getByRole("button", { name: "Invite a member" }).click();
    await page.route(scripts, async (route) => {
      await later;
      await route.continue();
    });
    await page.getByLabel("E-mail").fill("guest@example.com");
    const send = page.getByRole("button", { name: "Send invitation" });
    await send.click();
    await send.click();
    await expect(send).toHaveAttribute("aria-busy", "true");
    expect(invitations).toEqual([]);
    letThrough();
    await expect(row(page, "guest@example.com")).toBeVisible();
    expect(invitations).toHaveLength(1);
  });

  test("a person is invited, joins in another browser, switches, and loses access when removed", async ({
    page,
    context,
    browser,
  }) => {
    const owner = await newOrganization({ name: "Larkfield Research" });
    const guest = await newOrganization({ name: "Home of the guest" });
    await signInAs(context, owner.credential);
    await page.goto("/settings/members");
    await page.getByRole("button", { name: "Invite a member" }).click();
    await page.getByLabel("E-mail").fill("nobody");
    await page.getByRole("button", { name: "Send invitation" }).click();
    await expect(page.getByLabel("E-mail")).toHaveAccessibleDescription(/e-mail address/);
    await page.getByLabel("E-mail").fill(guest.email);
    await page.getByRole("radio", { name: /^Developer/ }).check();
    await expectAccessibleOnPhone(page);
    await page.getByRole("button", { name: "Send invitation" }).click();
    await expect(row(page, guest.email)).toContainText("Developer");
    await row(page, guest.email).getByRole("button", { name: "Send again" }).click();
    await expect(page.getByText(`Sent again to ${guest.email}`)).toBeVisible();

    const other = await browser.newContext({ baseURL: process.env["BASE_URL"] ?? "" });
    await signInAs(other, guest.credential);
    const theirs = await other.newPage();
    await theirs.goto((await linkTo(guest.email)).path);
    await theirs.getByRole("button", { name: "Accept and join" }).click();
    await expect(theirs.getByRole("button", { name: /^Larkfield Research/ })).toBeVisible();
    await theirs.getByRole("button", { name: /Larkfield Research/ }).click();
    await theirs.getByRole("menuitem", { name: /Home of the guest/ }).click();
    await expect(theirs.getByRole("button", { name: /^Home of the guest/ })).toBeVisible();
    await theirs.getByRole("button", { name: /^Home of the guest/ }).click();
    await theirs.getByRole("menuitem", { name: /Larkfield Research/ }).click();
    await expect(theirs.getByRole("button", { name: /^Larkfield Research/ })).toBeVisible();
    await theirs.goto("/settings/members");
    await expect(theirs.getByText("An owner or admin invites people")).toBeVisible();
    await expect(theirs.getByRole("button", { name: "Invite a member" })).toBeHidden();

    await page.reload();
    await row(page, guest.email).getByRole("button", { name: "Remove" }).click();
    await page.getByLabel("Reason").fill("Left the company");
    await page.getByRole("button", { name: "Remove member" }).click();
    await expect(page.getByRole("dialog")).toBeHidden();
    await expect(row(page, guest.email)).toBeHidden();
    await theirs.reload();
    await expect(theirs.getByRole("heading", { name: "Choose an organization" })).toBeVisible();
    await expect(theirs.getByText("Larkfield Research")).toBeHidden();
    await other.close();
  });

  test("a role changes, the last owner stays, and removing a person needs a reason", async ({ page, context }) => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    await signInAs(context, owner.credential);
    const { apiKey } = await newKey(admin, ["audit:read"]);
    await page.goto("/settings/members");
    await expect(row(page, owner.email)).toContainText("The last owner cannot be removed");
    await row(page, admin.email).getByRole("button", { name: "Change role" }).click();
    await page.getByRole("radio", { name: /^Viewer/ }).check();
    await expectAccessibleOnPhone(page);
    await page.getByRole("button", { name: "Change role", exact: true }).click();
    await expect(row(page, admin.email).getByRole("cell", { name: "Viewer" })).toBeVisible();
    await row(page, admin.email).getByRole("button", { name: "Remove" }).click();
    await expect(page.getByRole("dialog").getByText(apiKey.slice(0, 24))).toBeVisible();
    await page.getByRole("radio", { name: /^Revoke these keys/ }).check();
    await page.getByRole("button", { name: "Remove member" }).click();
    await expect(page.getByLabel("Reason")).toBeFocused();
    await expectAccessibleOnPhone(page);
    await page.keyboard.press("Escape");
    await expect(row(page, admin.email).getByRole("button", { name: "Remove" })).toBeFocused();
  });

  test("a key is shown once, replaced with a grace period, and revoked with a reason", async ({ page, context }) => {
    const owner = await newOrganization();
    const developer = await newMember(owner, "developer");
    await signInAs(context, owner.credential);
    await page.goto("/settings/keys");
    await expect(page.getByText("No service accounts yet")).toBeVisible();
    await page.getByRole("button", { name: "New service account" }).click();
    await page.getByLabel("Name").fill("Survey agent");
    await expect(page.getByRole("radio", { name: /^Pays/ })).toBeChecked();
    await expect(page.getByRole("checkbox", { name: /Draft mandates/ })).toBeHidden();
    await page.getByText("Choose one by one").click();
    await expect(page.getByRole("checkbox", { name: /Draft mandates/ })).toBeDisabled();
    await page.getByRole("radio", { name: /^Looks only/ }).check();
    await expect(page.getByRole("checkbox", { name: /^Carry out what was allowed/ })).not.toBeChecked();
    await page.getByRole("radio", { name: /^Pays/ }).check();
    await expect(page.getByRole("checkbox", { name: /^Carry out what was allowed/ })).toBeChecked();
    await expectAccessibleOnPhone(page);
    await page.getByRole("button", { name: "Create key" }).click();
    const secret = page.getByRole("dialog", { name: "Save the key of Survey agent now" });
    const shown = await secret.locator("code").first().innerText();
    expect(shown).toMatch(/^csk_sandbox_/);
    await expectAccessibleOnPhone(page);
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    await expect(secret).toBeVisible();
    await expect(secret.getByRole("button", { name: "Done" })).toBeDisabled();
    await secret.getByRole("checkbox", { name: /I saved it/ }).check();
    await secret.getByRole("button", { name: "Done" }).click();
    await expect(secret).toBeHidden();
    await expect(row(page, "Survey agent")).toContainText("Pay and order");
    expect(await page.content()).not.toContain(shown);

    await page.getByRole("link", { name: "Survey agent" }).click();
    await expect(page.getByRole("heading", { name: "Mandates that name it" })).toBeVisible();
    await page.getByRole("button", { name: /^Rotate/ }).click();
    await page.getByLabel("The key in use").selectOption("It works for another hour");
    await page.getByRole("button", { name: "Make a new key" }).click();
    await expect(secret.locator("code").first()).not.toHaveText(shown);
    await secret.getByRole("checkbox", { name: /I saved it/ }).check();
    await secret.getByRole("button", { name: "Done" }).click();
    await expect(page.getByText("2 live")).toBeVisible();
    await expect(page.getByText("Ends soon")).toBeVisible();
    await expectAccessible(page);
    const old = { headers: { authorization: `Bearer ${shown}` } };
    const served = `${process.env["BASE_URL"]}/api/v1/payments`;
    expect((await fetch(served, old)).status).toBe(200);
    await page.getByRole("button", { name: /^Revoke/ }).click();
    await page.getByLabel("Reason").fill("The agent was retired");
    await page.getByRole("button", { name: "Revoke service account" }).click();
    await expect(page.getByText("0 live")).toBeVisible();
    expect((await fetch(served, old)).status).toBe(401);

    await signInAs(context, developer.credential);
    await page.goto("/settings/keys");
    await page.getByRole("button", { name: "New service account" }).click();
    await expect(page.getByRole("radio", { name: /^Sells/ })).toBeVisible();
    await expect(page.getByRole("radio", { name: /^Pays/ })).toBeHidden();
    await page.getByText("Choose one by one").click();
    await expect(page.getByRole("checkbox", { name: /Change paid resources and prices/ })).toBeVisible();
    await expect(page.getByRole("checkbox", { name: /Carry out what was allowed/ })).toBeHidden();
  });

  test("if they signed in long ago, a person confirms their identity before they create a key", async ({ page, context }) => {
    const owner = await newOrganization();
    await newKey(owner);
    await signInAs(context, owner.credential);
    await database()
      .update(session)
      .set({ provedAt: new Date(Date.now() - 16 * 60_000) })
      .where(eq(session.userId, owner.userId));
    await page.goto("/settings/keys");
    await page.getByRole("button", { name: /^Rotate/ }).click();
    const dialog = page.getByRole("dialog", { name: /^Rotate/ });
    await dialog.getByRole("button", { name: "Make a new key" }).click();
    const proof = page.getByRole("dialog", { name: "Confirm that it is you" });
    const password = proof.getByLabel("Your password");
    await expect(password).toBeFocused();
    await expect(password).toBeInViewport({ ratio: 1 });
    await page.keyboard.press("Escape");
    await expect(proof).toBeHidden();
    await expect(dialog.getByText(/^Nothing was changed|Confirm that it is you first/)).toBeVisible();
    await dialog.getByRole("button", { name: "Make a new key" }).click();
    await password.fill("not my password");
    await proof.getByRole("button", { name: "Confirm" }).click();
    await expect(proof.getByText("This is not your password.")).toBeVisible();
    await expect(password).toBeFocused();
    await expectAccessible(page);
    await password.fill(PASSWORD);
    // The new key is made without another press of the button.
    await page.keyboard.press("Enter");
    await expect(
      page
        .getByRole("dialog", { name: /^Save the key of/ })
        .locator("code")
        .first(),
    ).toHaveText(/^csk_sandbox_/);
  });

  test("the audit log is filtered, verified and exported; billing shows the fees that are owed", async ({ page, context }) => {
    const owner = await newOrganization();
    await newKey(owner);
    await signInAs(context, owner.credential);
    await page.goto("/settings/audit");
    await expect(row(page, "Service account created")).toBeVisible();
    await page.getByRole("button", { name: "Verify the log" }).click();
    await expect(page.getByText("All 2 events are as written")).toBeVisible();
    await expectAccessible(page);
    await page.getByLabel("Kind of event").selectOption("Members");
    await expect(page).toHaveURL(/kind=members/);
    await expect(row(page, "Service account created")).toBeHidden();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export CSV" }).click()]);
    const text = await readFile(await file.path(), "utf8");
    expect(text.trim().split("\r\n")).toHaveLength(2);
    await page.getByRole("link", { name: "Organization created" }).click();
    await expect(page.getByText("Its hash was computed again just now")).toBeVisible();
    await page.goto("/settings/billing");
    await expect(page.getByText("No fees in this month")).toBeVisible();
  });

  test("a page says what a role hides, and another organization’s account is not found", async ({ page, context }) => {
    const owner = await newOrganization();
    const { serviceAccountId } = await newKey(await newOrganization());
    const approver = await newMember(owner, "approver");
    await signInAs(context, approver.credential);
    for (const [path, text] of [
      ["/settings/keys", "does not show keys"],
      ["/settings/billing", "does not show fees"],
      ["/settings/audit", "does not show the audit log"],
    ] as const) {
      await page.goto(path);
      await expect(page.getByRole("heading", { name: new RegExp(text) })).toBeVisible();
    }
    await expectAccessible(page);
    await signInAs(context, owner.credential);
    for (const path of [`/settings/keys/${serviceAccountId}`, "/settings/webhooks/whe_1?cursor=nonsense", "/settings/audit/999"])
      expect((await page.goto(path))?.status(), path).toBe(404);
    const stranger = await newPerson();
    await signInAs(context, stranger.credential);
    await page.goto("/settings/members");
    await expect(page).toHaveURL(/\/onboarding/);
  });
});
