import { PASSWORD, newOrganization, newPerson } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";

const newAddress = () => `${crypto.randomUUID()}@example.com`;

test.describe("signing in and signing up", () => {
  test("a new person signs up, sets up an organization and sees the home page", async ({ page }) => {
    await page.goto("/");
    await page.getByRole("link", { name: "Create an account" }).click();
    await page.getByLabel("Name").fill("Mira Okafor");
    await page.getByLabel("E-mail").fill(newAddress());
    await page.getByLabel("Password").fill(PASSWORD);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create account" }).click();
    await expect(page.getByRole("heading", { name: "Set up your organization" })).toBeVisible();
    await page.getByLabel("Name", { exact: true }).fill("Harbor Books & Maps");
    await expect(page.getByLabel("Short name")).toHaveValue("harbor-books-maps");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create organization" }).click();
    await expect(page).toHaveURL("/get-started");
    await expect(page.getByRole("heading", { name: "Get started", exact: true })).toBeVisible();
  });

  test("a wrong password is refused in one sentence, and the right one signs in", async ({ page }) => {
    const { email } = await newOrganization();
    await page.goto("/sign-in");
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill("a wrong password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("alert").filter({ hasText: "not right" })).toBeVisible();
    await expectAccessible(page);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page).toHaveURL("/home");
    await page.getByRole("button", { name: "Account menu" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
    await page.goto("/onboarding");
    await expect(page).toHaveURL(/\/sign-in\?returnTo=%2Fonboarding$/);
  });

  test("a known address gets the same answer as an unknown one", async ({ page }) => {
    const { email } = await newPerson();
    await page.goto("/sign-up");
    await page.getByLabel("Name").fill("Somebody");
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill("another password than theirs");
    await page.getByRole("button", { name: "Create account" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "sign in instead" })).toBeVisible();
  });

  test("a short name that is in use is reported at its field", async ({ page, context }) => {
    const { credential } = await newPerson();
    await newOrganization({ name: "Taken Name" });
    await signInAs(context, credential);
    await page.goto("/onboarding");
    await page.getByLabel("Name", { exact: true }).fill("Taken Name");
    await page.getByRole("button", { name: "Create organization" }).click();
    await expect(page.getByLabel("Short name")).toHaveAccessibleDescription(/taken/);
    await page.getByLabel("Short name").fill(`free-${crypto.randomUUID().slice(0, 8)}`);
    await page.getByRole("button", { name: "Create organization" }).click();
    await expect(page).toHaveURL("/get-started");
  });

  test("a person who is signed in is redirected, and never to another origin", async ({ page, context }) => {
    const { credential } = await newOrganization();
    await signInAs(context, credential);
    for (const elsewhere of ["//evil.example", "/\\evil.example", "/%5cevil.example", "https://evil.example"]) {
      await page.goto(`/sign-in?returnTo=${encodeURIComponent(elsewhere)}`);
      await expect(page).toHaveURL("/home");
    }
    await page.goto("/sign-in?returnTo=%2Fonboarding");
    await expect(page).toHaveURL("/onboarding");
  });

  test("the start page and an unknown page are accessible", async ({ page }) => {
    await page.goto("/");
    await expectAccessible(page);
    expect((await page.goto("/nowhere"))?.status()).toBe(404);
    await expectAccessible(page);
  });
});
