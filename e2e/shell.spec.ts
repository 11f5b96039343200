import { newKey, newOrganization } from "#test/identity.ts";
import { expect, expectAccessible, listensTo, signInAs, test } from "./setup/journey.ts";

test.describe("the frame and the documentation", () => {
  test("a person who is not signed in signs in first, and returns to the page that they wanted", async ({ page }) => {
    await page.goto("/mandates?status=active");
    await expect(page).toHaveURL("/sign-in?returnTo=%2Fmandates%3Fstatus%3Dactive");
  });

  test("the platform's pages are not found by an organization's owner", async ({ page, context }) => {
    await signInAs(context, (await newOrganization()).credential);
    for (const path of ["/admin", "/admin/users"]) expect((await page.goto(path))?.status()).toBe(404);
  });

  test("the menu of an organization that buys and sells is whole in a window of 1280x800", async ({ page, context }) => {
    await signInAs(context, (await newOrganization({ productRoles: ["buyer", "seller"] })).credential);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto("/settings/security");
    const links = page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link");
    await expect(links).toHaveCount(19);
    for (const link of await links.all()) await expect(link).toBeInViewport({ ratio: 1 });
  });

  test("the palette finds pages, themes and objects of the organization on every page", async ({ page, context }) => {
    await signInAs(context, (await newOrganization({ name: "Larkfield Research" })).credential);
    await page.goto("/home");
    const palette = page.getByRole("dialog", { name: "Search" });
    const field = palette.getByRole("combobox");
    await page.getByRole("button", { name: /^Search/ }).click();
    await expect(field).toBeFocused();
    await expectAccessible(page);
    await field.fill("members");
    await expect(palette.getByRole("option", { name: "Members" })).toHaveAttribute("data-highlighted");
    await field.press("Enter");
    await expect(page).toHaveURL("/settings/members");
    await listensTo(page, "Control+K");
    await page.keyboard.press("Control+k");
    await expect(field).toBeFocused();
    await field.fill("theme dark");
    await expect(palette.getByRole("option", { name: "Theme: dark" })).toHaveAttribute("data-highlighted");
    await field.press("Enter");
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await expect(palette).toBeHidden();
    const reload = await page.reload();
    expect(await reload?.text()).toContain('data-theme="dark"');
    await listensTo(page, "Control+K");
    await page.keyboard.press("Control+k");
    await field.fill("nothing has this name");
    await expect(palette.getByText("Nothing found")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(palette).toBeHidden();
  });

  test("the palette keeps the text that is typed while it loads, and / opens it", async ({ page, context }) => {
    await signInAs(context, (await newOrganization()).credential);
    await page.goto("/home");
    await listensTo(page, "Control+K");
    await page.waitForLoadState("networkidle");
    const { promise: later, resolve: letThrough } = Promise.withResolvers<void>();
    await page.route(/\/_next\/static\/.*\.js/, async (route) => {
      await later;
      await route.continue();
    });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("mem");
    letThrough();
    const palette = page.getByRole("dialog", { name: "Search" });
    await expect(palette.getByRole("combobox")).toBeFocused();
    await page.keyboard.type("bers");
    await expect(palette.getByRole("combobox")).toHaveValue("members");
    await page.keyboard.press("Escape");
    await expect(palette).toBeHidden();
    await page.keyboard.press("/");
    await page.keyboard.type("keys");
    await expect(palette.getByRole("combobox")).toHaveValue("keys");
  });

  test("the quickstart runs in the page, and its payment is found by id", async ({ page, context }) => {
    await signInAs(context, (await newOrganization()).credential);
    await page.goto("/docs/quickstart");
    await expect(page.getByText("Waiting for your first request")).toBeVisible();
    await page.getByRole("button", { name: "Run in sandbox" }).click();
    await expect(page.getByRole("list", { name: "Requests" }).getByRole("listitem")).toHaveCount(3);
    await expect(page.getByText("Allowed").first()).toBeVisible();
    await expect(page.getByRole("link", { name: "weather.example.com" })).toBeVisible();
    await expectAccessible(page);
    const link = page.getByRole("link", { name: "weather.example.com" });
    const authorizationId = (await link.getAttribute("href"))?.split("/").at(-1) ?? "";
    await page.goto("/home");
    await listensTo(page, "Control+K");
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Search" });
    await palette.getByRole("combobox").fill(authorizationId);
    await expect(palette.getByRole("option", { name: "weather.example.com" })).toBeVisible();
    await palette.getByRole("combobox").fill("quick");
    await expect(palette.getByRole("option", { name: "Quickstart Mandate" })).toBeVisible();
  });

  test("the first steps are marked as done when they are done on other pages", async ({ page, context }) => {
    const owner = await newOrganization({ productRoles: ["buyer", "seller"] });
    await signInAs(context, owner.credential);
    await page.goto("/get-started");
    await expect(page.getByText("0 of 7 done")).toBeVisible();
    await expectAccessible(page);
    await newKey(owner);
    await expect(page.getByRole("heading", { name: "Done: Create a key" })).toBeVisible();
    await expect(page.getByRole("status").filter({ hasText: "Done: Create a key" })).toBeAttached();
    await page.getByRole("button", { name: "Run in sandbox" }).click();
    await expect(page.getByText("3 of 7 done")).toBeVisible();
  });

  test("an operation is tried with a session, and with a key that is never in the URL", async ({ page, context }) => {
    const { credential, organizationId } = await newOrganization({ name: "Harbor Books" });
    await signInAs(context, credential);
    await page.goto("/docs/getSession");
    await page.getByRole("button", { name: "Send GET in the sandbox" }).click();
    await expect(page.getByLabel("Reply", { exact: true }).getByText(organizationId).first()).toBeVisible();
    await page.goto("/docs/listMandates");
    await page.getByLabel("An API key").check();
    await page.getByLabel("API key", { exact: true }).fill("csk_sandbox_nobody");
    await page.getByRole("button", { name: "Send GET in the sandbox" }).click();
    await expect(page.getByText("api_key_invalid")).toBeVisible();
    await expectAccessible(page);
    expect(page.url()).not.toContain("csk_");
  });

  test("an http page without a clipboard says how to copy", async ({ browser, baseURL }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(`http://plain.example:${new URL(baseURL!).port}/docs/quickstart`);
    await page.getByRole("button", { name: /^Copy/ }).first().click();
    await expect(page.getByText("Open this page over https").first()).toBeVisible();
    expect(errors).toEqual([]);
    await context.close();
  });

  test("the documentation is public, and an unknown page is 404", async ({ page }) => {
    await page.goto("/docs");
    await expectAccessible(page);
    await page.getByRole("searchbox", { name: "Search the documentation" }).last().fill("authorize a payment");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { level: 1, name: "Search the documentation" })).toBeVisible();
    await expectAccessible(page);
    await page.goto("/docs?q=zebra");
    await expect(page.getByText("Nothing found")).toBeVisible();
    await page.getByRole("link", { name: "Show all sections" }).click();
    await page.getByRole("main").getByRole("link", { name: "Payments", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Payments" })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("main").getByRole("link", { name: "authorizePayment", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Authorize a payment against a mandate's policy" })).toBeVisible();
    await expectAccessible(page);
    expect((await page.goto("/docs/nothing"))?.status()).toBe(404);
    const text = await page.request.get("/llms.txt");
    expect(text.headers()["content-type"]).toBe("text/plain; charset=utf-8");
    expect(await text.text()).toContain("/docs/authorizePayment");
  });
});
