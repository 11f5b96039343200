import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { AxeBuilder } from "@axe-core/playwright";
import { expect, test as base, type BrowserContext, type Page } from "@playwright/test";
import type { Credential } from "#test/tenant.ts";

export { expect };

const require = createRequire(import.meta.url);
/** Minified: the builder would send a page the readable one, twice, which takes longer than what it is asked. */
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const anyAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

/** What a page has said on its console, and what it threw. */
function listen(page: Page, errors: string[]): void {
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    // A refusal is an answer that a page shows; the browser logs it all the same.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text());
  });
}

/** A journey ends without an error on the console of any of its pages. */
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

/** Gives a browser the session of somebody who signed in before. */
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

/** The page listens to the key that its control announces. */
export const listensTo = (page: Page, key: "/" | "Control+K"): Promise<void> =>
  expect(page.locator(`[aria-keyshortcuts="${key}"]`).first()).toBeAttached();

/** No violation of any rule, in both schemes, and nothing to scroll sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // What still moves between two colours, or into place, is not what people read.
    await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
    if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
    // Without frames there is nothing to put together, which the other mode does in a page of its own.
    const axe = new AxeBuilder({ page, axeSource: ";" }).options({ resultTypes: ["violations"] }).setLegacyMode();
    // The second scheme changes colours alone, so only the rules about colours are asked again.
    const rules = colorScheme === "light" ? axe.withTags(tags) : axe.withRules(["color-contrast", "link-in-text-block"]);
    const { violations } = await rules.analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    expect(found, colorScheme).toEqual([]);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
}
