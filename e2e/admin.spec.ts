import { eq } from "drizzle-orm";
import { localChainId } from "../examples/chain.ts";
import { endAlarm, saveAlarm } from "#lib/audit/checkpoint-store.ts";
import { database } from "#lib/db/client.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { ask } from "#test/asking.ts";
import { newOrganization } from "#test/identity.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { createOfficial, setRoles, type Official } from "#test/platform.ts";
import { newSeller } from "#test/sellers.ts";
import { selectUsers } from "#lib/platform/user-store.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";

const REASON = "Quarterly review, ticket 4471";

/** Makes a new admin and takes the role from all others, also from the first user of this sandbox. */
async function onlyAdmin(): Promise<Official> {
  await newOrganization();
  const admin = await createOfficial("admin");
  for (const other of await selectUsers({ role: "admin" }, null, 100))
    if (other.id !== admin.userId) expect((await setRoles(admin, other.id, [])).status).toBe(200);
  return admin;
}

test.describe("the platform's administration", () => {
  test("an admin grants a role and revokes sessions, which signs the other browser out; the last admin stays", async ({
    page,
    context,
    browser,
  }) => {
    const admin = await onlyAdmin();
    const person = await newOrganization({ name: "Larkfield Research" });
    await signInAs(context, admin.credential);
    const elsewhere = await browser.newContext();
    await signInAs(elsewhere, person.credential);
    const other = await elsewhere.newPage();
    await other.goto("/home");
    await expect(other.getByRole("heading", { name: "Home", exact: true })).toBeVisible();

    await page.goto("/admin");
    await expectAccessible(page);
    await page.getByRole("link", { name: "Users", exact: true }).first().click();
    await page.getByRole("searchbox", { name: "Search people" }).fill(person.email);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/search=/);
    await expectAccessible(page);
    await page.getByRole("link", { name: "Ada" }).click();
    await page.getByRole("checkbox", { name: "auditor" }).check();
    await page.getByRole("textbox", { name: "Reason" }).fill(REASON);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save roles" }).click();
    await expect(page.getByRole("cell", { name: admin.userId }).or(page.getByText(REASON)).first()).toBeVisible();

    await page.getByRole("button", { name: "Revoke 1 session" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Reason" }).fill(REASON);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Revoke sessions" }).click();
    await expect(page.getByText("Signed in nowhere.")).toBeVisible();
    await other.goto("/home");
    await expect(other).toHaveURL(/\/sign-in/);
    await elsewhere.close();

    await page.goto(`/admin/users/${admin.userId}`);
    await page.getByRole("checkbox", { name: "admin" }).uncheck();
    await page.getByRole("textbox", { name: "Reason" }).fill(REASON);
    await page.getByRole("button", { name: "Save roles" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "last admin" })).toBeVisible();
  });

  test("an emergency revocation, confirmed by a typed word, stops the next authorize", async ({ page, context }) => {
    const operator = await createOfficial("operator");
    const buyer = await createBuyer();
    const shop = await newSeller(buyer.person.credential, { price: "0.5", chain: localChainId });
    const paying = { ...buyer, resource: { ...buyer.resource, ...shop } };
    const policy = { assets: [{ asset: "USDC", chain: localChainId }], limits: { perPayment: "1", total: "5" } };
    const mandateId = await activeMandate(buyer.person.credential, { policy });
    expect((await ask(paying, mandateId)).data.policyDecision.outcome).toBe("allow");

    await signInAs(context, operator.credential);
    await page.goto("/admin/emergency");
    await expectAccessible(page);
    const name = `Leaked ${mandateId.slice(-5)}`;
    await database().update(mandates).set({ name }).where(eq(mandates.mandateId, mandateId));
    await page.getByLabel("Find by name").fill(name.toUpperCase());
    await page.getByRole("button", { name: "Look up" }).click();
    await expectAccessible(page);
    await page.getByRole("link", { name }).click();
    await expect(page.getByRole("textbox", { name: "Mandate", exact: true })).toHaveValue(mandateId);
    await expect(page.getByText("Authorizations not yet executed")).toBeVisible();
    const revoke = page.getByRole("button", { name: "Revoke now" });
    await page.getByLabel("Reason").fill("Leaked agent key, ticket 4471");
    await expect(revoke).toBeDisabled();
    await page.getByLabel(/^To confirm, type/).fill(`revoke ${mandateId.slice(-5)}`);
    await expectAccessible(page);
    await revoke.click();
    await expect(page.getByText("Stopped.")).toBeVisible();
    expect((await ask(paying, mandateId)).data.policyDecision.denialCode).toBe("mandate_revoked");
    await page.goto("/admin/fee-schedules");
    await expect(page.getByRole("heading", { name: "There is no page here" })).toBeVisible();
  });

  test("the health page names an audit chain that differs from its signed head, with a link", async ({ page, context }) => {
    const admin = await createOfficial("admin");
    const { organizationId: chain } = await newOrganization();
    const detail = "The chain differs from its signed head here.";
    await saveAlarm({ chain, sequence: 1, detail, signedSequence: 1, signedHash: "0f".repeat(32) });
    await signInAs(context, admin.credential);
    await page.goto("/admin/health");
    await expect(page.getByRole("alert").filter({ hasText: "Somebody changed the database directly" })).toBeVisible();
    await expect(page.getByText(detail)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("link", { name: chain }).click();
    await expect(page).toHaveURL(new RegExp(`/admin/audit\\?chain=${chain}`));
    await endAlarm(chain);
    await page.goto("/admin/health");
    await expect(page.getByRole("heading", { name: "Health", exact: true })).toBeVisible();
    await expect(page.getByText("Audit record was changed")).toBeHidden();
    await expect(page.getByRole("region", { name: "Database" }).getByText("Primary", { exact: true })).toBeVisible();
  });

  test("every other administration page opens for each role that may see it", async ({ page, context }) => {
    const admin = await createOfficial("admin");
    await signInAs(context, admin.credential);
    for (const name of ["organizations", "sellers", "fee-schedules", "subscriptions", "health", "audit"]) {
      await page.goto(`/admin/${name}`);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expectAccessible(page);
    }
    await page.getByRole("button", { name: "Verify" }).click();
    await expect(page.getByText(/intact/)).toBeVisible();
    await expectAccessible(page);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export CSV" }).click()]);
    expect(download.suggestedFilename()).toBe("audit-all.csv");
  });
});
