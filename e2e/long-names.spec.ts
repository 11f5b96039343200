import type { BrowserContext, Page } from "@playwright/test";
import { assetOf } from "#lib/chains/chains.ts";
import { call } from "#lib/http/client.ts";
import { createServiceAccount } from "#lib/identity/keys/contract.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import { sampleBody } from "#lib/pages/docs/sample.ts";
import { sampleFor } from "#lib/pages/docs/quickstart.ts";
import { authorizePayment } from "#lib/payments/contract.ts";
import { newOrganization, type Owner } from "#test/identity.ts";
import { localChainId } from "../examples/chain.ts";
import { expect, signInAs, test } from "./setup/journey.ts";

/* Shows names of about 80 characters, also one without spaces, on some pages. */

const unbroken = "Wissenschaftlicheforschungsgesellschaftfuernachhaltigedatenverarbeitungundwetter";
const arabic = "وكالة الشراء الآلية لبيانات الطقس والخرائط في جميع المدن الساحلية والجبلية معا";
const domain = "stations-of-the-north.weather-data.example.com";

type Named = { readonly owner: Owner; readonly mandateId: string };

async function newNamed(): Promise<Named> {
  const owner = await newOrganization({ name: unbroken, productRoles: ["buyer", "seller"] });
  const as = (headers: Record<string, string>) => ({ baseUrl: process.env["BASE_URL"] ?? "", headers });
  const usual = sampleFor(assetOf(localChainId, "USDC")!);
  const sample = JSON.parse(JSON.stringify(usual).replaceAll("weather.example.com", domain)) as typeof usual;
  const policy = sample.policy as Parameters<typeof call<typeof createMandate>>[1]["body"]["policy"];
  const body = { name: unbroken, policy };
  const { mandateId } = await call(createMandate, { body }, as(owner.credential));
  await call(activateMandate, { id: mandateId }, as(owner.credential));
  for (const name of [unbroken, arabic]) {
    const { apiKey } = await call(
      createServiceAccount,
      { body: { name, organizationId: owner.organizationId } },
      as(owner.credential),
    );
    const fresh = { name: crypto.randomUUID(), expiresAt: new Date(Date.now() + 600_000) };
    const asked = sampleBody(mandateId, sample, fresh) as Parameters<typeof call<typeof authorizePayment>>[1]["body"];
    await call(authorizePayment, { body: asked }, as({ authorization: `Bearer ${apiKey}` }));
  }
  return { owner, mandateId };
}

let named: Named;
test.beforeAll(async () => {
  named = await newNamed();
});

const overflow = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

async function open(context: BrowserContext, page: Page, path: string, width: number): Promise<void> {
  await signInAs(context, named.owner.credential);
  await page.setViewportSize({ width, height: 900 });
  await page.goto(path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}

/* pages.spec.ts opens all pages with long names, but its payments keep the short domain that the payee had before. So the pages
   below, which show payments, are tested here. */
const paths = ["/home", "/payments", "/approvals"];

for (const path of paths) {
  test(`${path} does not scroll sideways with long names`, async ({ page, context }) => {
    for (const width of [320, 390, 640, 1280]) {
      await open(context, page, path, width);
      expect(await overflow(page), `${width} px`).toBeLessThanOrEqual(0);
    }
  });
}

test("a payee's domain has no break inside a label", async ({ page, context }) => {
  await open(context, page, "/payments", 1280);
  const payee = page.getByRole("rowheader").locator("bdi").first();
  await expect(payee).toHaveText(domain);
  const lines = await payee.evaluate((element) => {
    const text = element.firstChild!;
    const range = document.createRange();
    const starts: string[] = [];
    let top = -1;
    for (let at = 0; at < text.textContent!.length; at += 1) {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const { top: now } = range.getBoundingClientRect();
      if (top !== -1 && now > top + 2) starts.push(text.textContent!.slice(at - 1, at + 1));
      top = Math.max(top, now);
    }
    return starts;
  });
  for (const pair of lines) expect(pair).toMatch(/^[-.]|^.[-.]/);
});

test("the menu shows a long name in two lines, and the theme switch is visible on a low screen", async ({ page, context }) => {
  for (const height of [900, 600]) {
    await open(context, page, "/home", 1280);
    await page.setViewportSize({ width: 1280, height });
    const button = await page.getByRole("button", { name: /Switch organization/ }).boundingBox();
    const name = await page
      .getByRole("button", { name: /Switch organization/ })
      .locator("strong")
      .boundingBox();
    expect(name!.y).toBeGreaterThanOrEqual(button!.y);
    expect(name!.y + name!.height).toBeLessThanOrEqual(button!.y + button!.height);
    expect(name!.height).toBeLessThanOrEqual(40);
    const theme = await page.getByRole("banner", { name: "Site", exact: true }).getByLabel("Theme").boundingBox();
    expect(theme!.y + theme!.height).toBeLessThanOrEqual(height);
  }
});

test("a message with a long address stays on the screen with its close button", async ({ page, context }) => {
  await open(context, page, "/settings/members", 320);
  await page.getByRole("button", { name: "Invite a member" }).click();
  await page.getByLabel("E-mail").fill(`${"purchasing".repeat(6)}@${"laboratory".repeat(5)}.example`);
  await page.getByRole("button", { name: "Send invitation" }).click();
  await expect(page.getByRole("dialog", { name: "Invite a member" })).toBeHidden();
  const said = page.getByText(/^Invitation sent to purchasing/);
  // The message stays on the screen while the pointer is on it.
  await said.hover();
  await expect(said.locator("..").getByRole("button", { name: "Close" })).toBeInViewport({ ratio: 1 });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
});
