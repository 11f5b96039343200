import type { Page } from "@playwright/test";
import { newOrganization, type Owner } from "#test/identity.ts";
import { expect, listensTo, signInAs, test } from "./setup/journey.ts";

/* Tests what the accessibility checker axe does not check: the position of the focus, and the announcements. */

let owner: Owner;
test.beforeAll(async () => {
  owner = await newOrganization({ name: "Larkfield Research", productRoles: ["buyer", "seller"] });
});

type Focus = { readonly what: string; readonly marked: boolean; readonly seen: boolean };

/**
 * The focused element, whether its focus is marked, and whether a part of the element can be seen; null if nothing has the
 * focus.
 */
const focusOf = (page: Page): Promise<Focus | null> =>
  page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return null;
    const shown = (one: Element) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
      return (outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2) || boxShadow !== "none";
    };
    // If a checkbox is hidden, its label shows the focus.
    const frame = element.closest("label") ?? element;
    const box = element.getBoundingClientRect();
    const spots = [0.1, 0.5, 0.9].flatMap((x) =>
      [0.25, 0.75].map((y) => [box.x + box.width * x, box.y + box.height * y] as const),
    );
    const seen = spots.some(([x, y]) => {
      const top = document.elementFromPoint(x, y);
      return top !== null && (element.contains(top) || top.contains(element) || frame.contains(top));
    });
    return { what: element.outerHTML.slice(0, 160), marked: shown(element) || shown(frame), seen };
  });

const STOPS_MAX = 80;

for (const width of [1280, 320]) {
  for (const path of ["/home", "/mandates/new", "/settings/keys", "/docs/createMandate"]) {
    test(`the keyboard goes through ${path} at ${width} px, and the focus is always visible`, async ({ page, context }) => {
      await signInAs(context, owner.credential);
      await page.setViewportSize({ width, height: 640 });
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expect(page.locator("[data-waits]")).toHaveCount(0);
      const stops: Focus[] = [];
      for (let stop = 0; stop < STOPS_MAX; stop += 1) {
        await page.keyboard.press("Tab");
        const focus = await focusOf(page);
        if (focus === null) break;
        stops.push(focus);
      }
      expect(stops.length).toBeGreaterThan(3);
      expect(
        stops.filter(({ marked }) => !marked).map(({ what }) => what),
        "focus not visible",
      ).toEqual([]);
      expect(
        stops.filter(({ seen }) => !seen).map(({ what }) => what),
        "focus obscured",
      ).toEqual([]);
    });
  }
}

test("the first focused element skips the menu", async ({ page, context }) => {
  await signInAs(context, owner.credential);
  await page.goto("/home");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
});

test("the control that opened the search dialog or a menu gets the focus again when that closes", async ({ page, context }) => {
  await signInAs(context, owner.credential);
  await page.goto("/home");
  const search = page.getByRole("button", { name: /^Search/ });
  const organization = page.getByRole("button", { name: /Switch organization/ });
  await expect(async () => {
    await search.focus();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog", { name: "Search" }).getByRole("combobox")).toBeFocused({ timeout: 2_000 });
  }).toPass();
  await page.keyboard.press("Escape");
  await expect(search).toBeFocused();
  await organization.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitem").first()).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(organization).toBeFocused();
});

test("the menu of small screens opens and closes with the keyboard", async ({ page, context }) => {
  await signInAs(context, owner.credential);
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto("/home");
  await listensTo(page, "Control+K");
  const menu = page.locator("summary").filter({ hasText: "Menu" });
  await menu.focus();
  await page.keyboard.press("Enter");
  const members = page.getByRole("link", { name: "Members" });
  await expect(members).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(members).toBeHidden();
  await expect(menu).toBeFocused();
  await page.keyboard.press("Enter");
  await members.click();
  await expect(page).toHaveURL("/settings/members");
  await expect(page.getByRole("heading", { level: 1, name: "Members" })).toBeVisible();
  await expect(members).toBeHidden();
});

test("the menu of small screens stays open while the menu of organizations in it is used", async ({ page, context }) => {
  await signInAs(context, owner.credential);
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto("/home");
  await listensTo(page, "Control+K");
  await page.locator("summary").filter({ hasText: "Menu" }).click();
  await page.getByRole("button", { name: /Switch organization/ }).click();
  await page.getByRole("menuitem", { name: "New organization" }).hover();
  await page.mouse.down();
  await expect(page.getByRole("link", { name: "Members" })).toBeVisible();
  await page.mouse.up();
  await expect(page).toHaveURL("/onboarding");
});

test("changes without a change of the focus are announced to screen readers", async ({ page, context }) => {
  await signInAs(context, owner.credential);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/docs/getSession");
  await page.getByRole("button", { name: "Send GET in the sandbox" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Answered 200" })).toBeAttached();
  await page.getByRole("button", { name: /copy request id/ }).click();
  await expect(page.getByRole("status").filter({ hasText: "Copied" })).toBeAttached();
});

test("the menu changes the organization, and the page shows the chosen organization", async ({ page, context }) => {
  const { credential } = await newOrganization({ name: "First Works" });
  await signInAs(context, credential);
  await page.goto("/onboarding");
  await page.getByLabel("Name", { exact: true }).fill("Second Works");
  await page.getByRole("button", { name: "Create organization" }).click();
  await expect(page.getByRole("button", { name: /Second Works.*Switch organization/ })).toBeVisible();
  await page.getByRole("button", { name: /Switch organization/ }).click();
  await page.getByRole("menuitem", { name: /First Works/ }).click();
  await expect(page).toHaveURL("/home");
  await expect(page.getByRole("button", { name: /First Works.*Switch organization/ })).toBeVisible();
});
