import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test as base, type BrowserContext, type Page } from "@playwright/test";
import type axe from "axe-core";
import type { Credential } from "#test/tenant.ts";

export { expect };

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const everything = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const colours = ["color-contrast", "link-in-text-block"];
const sizes = ["target-size", "scrollable-region-focusable"];

const anyAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

/** Collects the console errors and exceptions of a page. */
export function listen(page: Page, errors: string[]): void {
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    // The browser logs every refused request as an error. These are left out, because the page shows the refusal.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text());
  });
}

/** The test function of all journeys (browser tests). A journey fails if a page of its `context` logged an error. */
export const test = base.extend({
  baseURL: process.env["BASE_URL"] ?? "",
  extraHTTPHeaders: { "X-Forwarded-For": anyAddress() },
  context: async ({ context }, use) => {
    const errors: string[] = [];
    context.on("page", (page) => listen(page, errors));
    await use(context);
    expect(errors).toEqual([]);
  },
});

/** Gives a browser an existing session. */
export async function signInAs(context: BrowserContext, { cookie = "" }: Credential): Promise<void> {
  const at = cookie.indexOf("=");
  await context.addCookies([
    {
      name: cookie.slice(0, at),
      value: cookie.slice(at + 1),
      url: process.env["BASE_URL"] ?? "",
      httpOnly: true,
      sameSite: "Lax",
    },
  ]);
}

/** Waits until the page's scripts handle this shortcut key. A control of the page then has it in `aria-keyshortcuts`. */
export const listensTo = (page: Page, key: "/" | "Control+K"): Promise<void> =>
  expect(page.locator(`[aria-keyshortcuts="${key}"]`).first()).toBeAttached();

/**
 * Returns the violations of the given rules. It finishes all animations that have an end first, because colours that change are
 * not final. It does not wait for the animations, because a browser can pause the animations of a page that it does not draw.
 * It does not use axe's builder for Playwright, which is slower: the builder also checks frames, which this product does not
 * have, and collects rules without violations.
 */
async function findViolations(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  return page.evaluate(async (only) => {
    for (const animation of document.getAnimations()) {
      if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish();
    }
    const { run } = (window as unknown as { readonly axe: typeof axe }).axe;
    const { violations } = await run(document, { runOnly: only, resultTypes: ["violations"], reporter: "no-passes" });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  }, runOnly);
}

/** Checks that the page breaks no accessibility rule in either color scheme, and that it does not scroll sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  // After a navigation by scripts the title arrives later than the heading.
  await expect(page).toHaveTitle(/./);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  expect(await findViolations(page, { type: "tag", values: everything }), "light").toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  // The dark scheme changes only colours, so only the rules about colours are checked again.
  expect(await findViolations(page, { type: "rule", values: colours }), "dark").toEqual([]);
  await expectNoSidewaysScroll(page);
}

/** Checks what the width alone can break on a page whose other rules were checked at another width with the same elements. */
export async function expectFits(page: Page): Promise<void> {
  expect(await findViolations(page, { type: "rule", values: sizes })).toEqual([]);
  await expectNoSidewaysScroll(page);
}

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
}
