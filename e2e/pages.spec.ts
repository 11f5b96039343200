import { globSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "@playwright/test";
import { expect, expectAccessible, expectFits, expectNoSidewaysScroll, listen, signInAs, test } from "./setup/journey.ts";
import { newScene, type Scene } from "./setup/scene.ts";

/*
 * Opens every page of the product, with hostile names in the data, and some also without data, on narrow, zoomed and wide
 * screens, in both color schemes.
 */

/** The owner of an organization with data, the owner of an organization without data, or somebody who is not signed in. */
type Who = "full" | "empty" | "nobody";
type Visit = readonly [who: Who, path: (scene: Scene) => string];

const at = (path: string, ...who: Who[]): Visit[] => (who.length > 0 ? who : (["full"] as const)).map((one) => [one, () => path]);

/** For each page, who opens it and at which path. If a page is missing here, the test fails. */
const pages: Readonly<Record<string, readonly Visit[]>> = {
  "/": at("/", "nobody"),
  "/sign-in": at("/sign-in", "nobody"),
  "/sign-up": at("/sign-up", "nobody"),
  "/sign-in/link": at("/sign-in/link?token=none", "nobody"),
  "/verify-email": at("/verify-email", "nobody"),
  "/reset-password": at("/reset-password", "nobody"),
  "/invitations/[invitationToken]": [
    ["nobody", ({ invitation }) => `/invitations/${invitation}`],
    ["full", ({ invitation }) => `/invitations/${invitation}`],
  ],
  "/outbox": at("/outbox"),
  "/onboarding": at("/onboarding"),
  "/claim": at("/claim"),
  "/get-started": at("/get-started", "full", "empty"),
  "/docs": at("/docs", "nobody"),
  "/docs/[operationId]": [...at("/docs/authorizePayment", "nobody"), ...at("/docs/createMandate")],
  "/docs/mcp": at("/docs/mcp", "nobody"),
  "/docs/sections/[section]": at("/docs/sections/payments", "nobody"),
  "/docs/quickstart": at("/docs/quickstart", "full", "nobody"),
  "/verify": at("/verify", "nobody"),
  "/checkout/[checkoutIntentId]": [
    ["full", ({ checkout }) => checkout],
    ["full", ({ elsewhere }) => elsewhere.checkout],
  ],
  "/home": at("/home", "full", "empty"),
  "/approvals": at("/approvals", "full", "empty"),
  "/approvals/together": [
    ["full", ({ checkout }) => `/approvals/together?id=${checkout.split("/").at(-1)}`],
    ["empty", () => "/approvals/together"],
  ],
  "/mandates": at("/mandates", "full", "empty"),
  "/mandates/new": at("/mandates/new"),
  "/mandates/[mandateId]": [
    ["full", ({ mandateId }) => `/mandates/${mandateId}`],
    ["full", ({ elsewhere }) => `/mandates/${elsewhere.mandateId}`],
    ["full", ({ carded }) => `/mandates/${carded.mandateId}`],
  ],
  "/mandates/[mandateId]/edit": [
    ["full", ({ mandateId }) => `/mandates/${mandateId}/edit`],
    ["full", ({ elsewhere }) => `/mandates/${elsewhere.mandateId}/edit`],
    ["full", ({ carded }) => `/mandates/${carded.mandateId}/edit`],
  ],
  "/payments": at("/payments", "full", "empty"),
  "/payments/[authorizationId]": [
    ["full", ({ authorizationId }) => `/payments/${authorizationId}`],
    ["full", ({ elsewhere }) => `/payments/${elsewhere.authorizationId}`],
    ["full", ({ carded }) => `/payments/${carded.authorizationId}`],
    ["full", ({ carded }) => `/payments/${carded.declined}`],
  ],
  "/payments/[authorizationId]/receipt": [["full", ({ authorizationId }) => `/payments/${authorizationId}/receipt`]],
  "/spending": at("/spending", "full", "empty"),
  "/seller": at("/seller", "full", "empty"),
  "/seller/resources": at("/seller/resources", "full", "empty"),
  "/seller/resources/new": at("/seller/resources/new"),
  "/seller/resources/[sellerId]/[resourceId]": [["full", ({ sellerId }) => `/seller/resources/${sellerId}/daily-report`]],
  "/seller/payments": at("/seller/payments", "full", "empty"),
  "/seller/fees": at("/seller/fees", "full", "empty"),
  "/seller/settings": at("/seller/settings", "full", "empty"),
  "/settings/security": at("/settings/security"),
  "/settings/members": at("/settings/members", "full", "empty"),
  "/settings/organization": at("/settings/organization", "full", "empty"),
  "/settings/keys": at("/settings/keys", "full", "empty"),
  "/settings/keys/[serviceAccountId]": [["full", ({ agent }) => `/settings/keys/${agent.serviceAccountId}`]],
  "/settings/connect": at("/settings/connect", "full", "empty"),
  "/connect": [...at("/connect?error=invalid_client"), ...at("/connect?error=constructor", "empty")],
  "/settings/billing": at("/settings/billing", "full", "empty"),
  "/settings/cards": at("/settings/cards", "full", "empty"),
  "/settings/webhooks": at("/settings/webhooks", "full", "empty"),
  "/settings/webhooks/[webhookEndpointId]": [["full", ({ webhook }) => webhook]],
  "/settings/audit": at("/settings/audit", "full"),
  "/settings/audit/[sequence]": at("/settings/audit/1"),
  "/admin": at("/admin"),
  "/admin/users": at("/admin/users"),
  "/admin/users/[userId]": [["full", ({ full }) => `/admin/users/${full.userId}`]],
  "/admin/organizations": at("/admin/organizations"),
  "/admin/sellers": at("/admin/sellers"),
  "/admin/emergency": at("/admin/emergency"),
  "/admin/fee-schedules": at("/admin/fee-schedules"),
  "/admin/subscriptions": at("/admin/subscriptions"),
  "/admin/audit": at("/admin/audit"),
  "/admin/health": at("/admin/health"),
};

const SCRIPTS_MAX_KB = 200;
/**
 * A wide screen, a phone, a narrow phone, and a screen of 1,280 px at 200 % zoom. The last two show the same elements as a phone,
 * because no style shows or hides an element below 768 px.
 */
const WIDTHS = [
  [1280, expectAccessible],
  [390, expectAccessible],
  [320, expectFits],
  [640, expectNoSidewaysScroll],
] as const;
const FONT_MS = 500;

const files = globSync("app/**/page.tsx").map(
  (file) => file.replaceAll(/^app|\/\([^)]+\)(?=\/)|\/page\.tsx$|^app\/page\.tsx$/g, "") || "/",
);

// Without parallel mode, one worker would run all tests of this file, which are a large part of all browser tests.
test.describe.configure({ mode: "parallel" });

type Visitor = { readonly page: Page; readonly errors: string[] };
const visitors = new Map<Who, Promise<Visitor>>();

let scene: Scene;
// A worker can run two groups of these tests. Each group has its own data, so the visitors of the first group must not stay.
test.beforeAll(async () => {
  visitors.clear();
  scene = await newScene();
});

async function arrive(browser: Browser, who: Who): Promise<Visitor> {
  const context = await browser.newContext();
  if (who !== "nobody") await signInAs(context, scene[who].credential);
  const page = await context.newPage();
  const errors: string[] = [];
  listen(page, errors);
  return { page, errors };
}

/**
 * The browser page of a visitor. It is used for all pages in this worker, because a new browser context would load and compile
 * the same scripts again. The settings that the last test changed are reset.
 */
async function visitorOf(browser: Browser, who: Who): Promise<Visitor> {
  const coming = visitors.get(who) ?? arrive(browser, who);
  visitors.set(who, coming);
  const visitor = await coming;
  await visitor.page.emulateMedia({ colorScheme: null, reducedMotion: null });
  await visitor.page.setViewportSize({ width: 1280, height: 720 });
  return visitor;
}

const weights = new Map<string, Promise<number>>();

/**
 * Kilobytes of compressed JavaScript to which a page's document refers. Polyfills for browsers without modules are not counted,
 * and neither are scripts that the page loads only when they are needed, such as the search dialog.
 */
async function weightOf(page: Page, document: string): Promise<number> {
  const old = new Set(document.match(/<script[^>]*nomodule[^>]*>/gi)?.map((tag) => /\/_next\/[^"?]+\.js/.exec(tag)?.[0]));
  const paths = new Set(
    document.match(/(?:\/_next\/)?static\/chunks\/[^"'\\?]+\.js/g)?.map((path) => path.replace(/^(?=static)/, "/_next/")),
  );
  const measure = async (path: string) => gzipSync(await (await page.request.get(path)).body()).length / 1_000;
  const sizes = [...paths]
    .filter((path) => !old.has(path))
    .map((path) => {
      const size = weights.get(path) ?? measure(path);
      weights.set(path, size);
      return size;
    });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Buttons that could be pressed before the page's scripts run, without effect. Only GET forms work without scripts. */
const losesPresses = (page: Page, document: string): Promise<string[]> =>
  page.evaluate(
    (html) =>
      [...new DOMParser().parseFromString(html, "text/html").querySelectorAll("button")]
        .filter((button) => !button.matches(":disabled") && (button.form?.method ?? "post") === "post")
        .map((button) => button.outerHTML),
    document,
  );

test("the list of visits has every page", () => {
  expect(files.toSorted()).toEqual(Object.keys(pages).toSorted());
});

/** What the second visit and each after it shows. */
const others = ["", ", who pays elsewhere", ", who pays by card", ", whose card was declined"];

for (const [pattern, visits] of Object.entries(pages)) {
  for (const [at, [who, path]] of visits.entries()) {
    const again = others[visits.slice(0, at).filter(([one]) => one === who).length] ?? "";
    test(`${pattern} is accessible and logs no errors (opened by: ${who}${again})`, async ({ browser }) => {
      const { page, errors } = await visitorOf(browser, who);
      const reply = await page.goto(path(scene));
      expect(reply?.status()).toBe(200);
      expect(await losesPresses(page, (await reply?.text()) ?? "")).toEqual([]);
      for (const [width, expectRules] of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
        await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
        await expectRules(page);
      }
      expect(errors).toEqual([]);
    });
  }
}

const SHIFT_MAX = 0.05;

/** The sum of the layout shifts of a page whose font arrives late. */
async function shiftOf(browser: Browser, path: string, viewport: { readonly width: number; readonly height: number }) {
  const context = await browser.newContext({ viewport });
  await signInAs(context, scene.full.credential);
  await context.route("**/*.woff2", async (route) => {
    await pause(FONT_MS);
    await route.continue();
  });
  const page = await context.newPage();
  await page.goto(path);
  await page.waitForLoadState("networkidle");
  const shift = await page.evaluate(async () => {
    await document.fonts.ready;
    return new Promise<number>((resolve) => {
      new PerformanceObserver((list) => {
        const shifts = list.getEntries() as (PerformanceEntry & { readonly value: number })[];
        resolve(shifts.reduce((sum, { value }) => sum + value, 0));
      }).observe({ type: "layout-shift", buffered: true });
      // If there is no shift, the observer is never called, so end after 300 ms.
      setTimeout(resolve, 300, 0);
    });
  });
  await context.close();
  return shift;
}

for (const viewport of [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
]) {
  test(`the content of a page does not move while it loads, at ${viewport.width} px`, async ({ browser }) => {
    const shifts: string[] = [];
    for (const path of ["/home", "/payments", `/mandates/${scene.mandateId}`, `/payments/${scene.authorizationId}`, "/seller"]) {
      const shift = await shiftOf(browser, path, viewport);
      if (shift >= SHIFT_MAX) shifts.push(`${path}: ${shift.toFixed(3)}`);
    }
    expect(shifts).toEqual([]);
  });
}

test("no page loads more JavaScript than its limit", async ({ browser }) => {
  const heavy: string[] = [];
  for (const visits of Object.values(pages)) {
    const [who, path] = visits[0]!;
    const { page } = await visitorOf(browser, who);
    const weight = await weightOf(page, await (await page.request.get(path(scene))).text());
    if (weight > SCRIPTS_MAX_KB) heavy.push(`${path(scene)}: ${Math.round(weight)} kB`);
  }
  expect(heavy).toEqual([]);
});
