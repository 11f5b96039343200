import type { Page } from "@playwright/test";
import { eq } from "drizzle-orm";
import { rejectCheckout } from "#lib/commerce/checkout-contract.ts";
import { database } from "#lib/db/client.ts";
import { call } from "#lib/http/client.ts";
import { organization, serviceAccounts } from "#lib/identity/tables.ts";
import { mandates, mandateSellers } from "#lib/mandates/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { newMember, PASSWORD } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import {
  askAPerson,
  changeBasket,
  changeCheckout,
  newPurchase,
  openBasket,
  statusOf,
  writeMandate,
  type Purchase,
} from "./setup/purchase.ts";

const LONG = "Ein Agent mit einem sehr langen Namen, der Büromaterial für alle Labore einkauft.";
const ARABIC = "وكيل المشتريات الذي يشتري كل ما يحتاجه المختبر من الورق والأقلام والملصقات اليوم";
const JAPANESE = "研究室のすべての消耗品と事務用品を購入する、とても長い名前を持つエージェントです。".repeat(2);
const screens = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
] as const;

/** Replaces the names on the page with long or misleading ones, and adds an earlier payee whose domain looks alike. */
async function disguise({ agent, mandateId, seller }: Purchase): Promise<void> {
  const domain = `arnazon.the-marketplace-for-everything-${seller.domain}`;
  await database()
    .update(serviceAccounts)
    .set({ name: LONG })
    .where(eq(serviceAccounts.serviceAccountId, agent.serviceAccountId));
  await database()
    .update(mandates)
    .set({ name: JAPANESE.slice(0, 80) })
    .where(eq(mandates.mandateId, mandateId));
  await database().update(sellers).set({ domain, name: ARABIC, verified: false }).where(eq(sellers.sellerId, seller.sellerId));
  await database()
    .insert(mandateSellers)
    .values({ mandateId, sellerId: `amazon.the-marketplace-for-everything-${seller.domain} 0x00`, firstPaidAt: new Date(0) });
}

/** Raises the amounts above which the person must confirm their identity, so that no payment of these tests reaches them. */
const liftStepUp = ({ buyer }: Purchase) =>
  database()
    .update(organization)
    .set({ stepUpAbove: "1000000", stepUpAboveUnverified: "1000000" })
    .where(eq(organization.id, buyer.organizationId));

async function decline(path: string, { buyer }: Purchase): Promise<void> {
  const at = { baseUrl: process.env["BASE_URL"] ?? "", headers: buyer.credential };
  await call(rejectCheckout, { checkoutIntentId: path.split("/").at(-1) ?? "", body: { reason: "We have one." } }, at);
}

const hostileLines = [LONG, ARABIC, JAPANESE.slice(0, 80)].map((name, at) => ({
  productId: `item-${at}`,
  name,
  color: "W".repeat(40),
  quantity: 3,
  unitAmount: "4.20",
}));

async function expectInView(page: Page, height: number): Promise<void> {
  for (const name of [/^Decline/, /^Approve .* to /]) {
    const button = page.getByRole("button", { name });
    await expect(button).toBeVisible();
    const box = await button.boundingBox();
    expect(Math.ceil((box?.y ?? Infinity) + (box?.height ?? Infinity)), `${name} ends`).toBeLessThanOrEqual(height);
  }
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
}

/** What the browser of a phone leaves of its screen. */
const phones = [
  { width: 390, height: 664 },
  { width: 360, height: 640 },
] as const;

/** The states of the page that have both buttons. Each returns the path of a request of a new buyer. */
const states: Readonly<Record<string, (purchase: Purchase, page: Page) => Promise<string>>> = {
  "short names": (purchase) => askAPerson(purchase),
  "hostile texts and long names of a seller who is not verified": async (purchase) => {
    await disguise(purchase);
    const path = await openBasket(purchase, hostileLines);
    const domain = `arnazon.the-marketplace-for-everything-${purchase.seller.domain}`;
    await changeCheckout(path, { domain, metadata: { purpose: `${LONG} ${ARABIC}` } });
    return path;
  },
  "a passkey is asked for, and there is none": async (purchase) => {
    await database()
      .update(sellers)
      .set({ minimumAssuranceLevel: "passkeyApproved" })
      .where(eq(sellers.sellerId, purchase.seller.sellerId));
    return askAPerson(purchase);
  },
  "a mandate must be chosen": async (purchase) => {
    await writeMandate(purchase.buyer, "Second mandate");
    const path = await openBasket(purchase, hostileLines);
    await changeCheckout(path, { mandateId: null, detectedMandateId: null, mandateStatus: "approval_required" });
    return path;
  },
  "the basket changed": async (purchase, page) => {
    const path = await openBasket(purchase, hostileLines);
    await page.goto(path);
    await expect(page.getByRole("button", { name: /^Decline/ })).toBeVisible();
    await changeBasket(purchase, path, hostileLines.slice(1));
    return path;
  },
  "the service refuses": async (purchase, page) => {
    await page.route("**/approve", (route) => route.abort());
    return askAPerson(purchase);
  },
};

/** Focuses everything on the page in turn, and checks that the bar with the buttons never covers what has the focus. */
const coveredByBar = (page: Page) =>
  page.evaluate(async () => {
    const bar = document.querySelector("#decision-bar");
    const covered: string[] = [];
    for (const node of document.querySelectorAll<HTMLElement>("main :is(a, button, input, textarea, summary):not(:disabled)")) {
      if (bar === null || bar.contains(node)) continue;
      node.focus();
      // Nothing in a closed section can have the focus.
      if (document.activeElement !== node) continue;
      await new Promise((done) => requestAnimationFrame(done));
      if (node.getBoundingClientRect().bottom > bar.getBoundingClientRect().top + 1) covered.push(node.outerHTML.slice(0, 120));
    }
    return covered;
  });

for (const viewport of phones) {
  test.describe(`on a phone with ${viewport.width} x ${viewport.height}`, () => {
    test.use({ viewport });

    for (const [state, prepare] of Object.entries(states)) {
      test(`Approve and Decline stay in view, at the top and at the end: ${state}`, async ({ page, context }) => {
        // The first payment to a seller asks for the password.
        const known = state === "the service refuses";
        const purchase = await newPurchase({ known });
        await signInAs(context, purchase.buyer.credential);
        await page.goto(await prepare(purchase, page));
        await expectInView(page, viewport.height);
        if (known) {
          await page.getByRole("button", { name: /^Approve .* to / }).click();
          await expect(page.getByText(/Nothing was approved\./)).toBeInViewport();
        }
        expect(await coveredByBar(page)).toEqual([]);
        await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
        for (const name of [/^Decline/, /^Approve .* to /]) {
          await expect(page.getByRole("button", { name })).toBeInViewport({ ratio: 1 });
        }
        const [bar, end] = await page.evaluate(() =>
          ["#decision-bar", "main"].map((selector) => document.querySelector(selector)?.getBoundingClientRect()),
        );
        expect(end?.bottom).toBeLessThanOrEqual(bar?.top ?? 0);
        // Fixed at the edge of the window, the buttons keep their place in the order of the keyboard.
        await page.getByText("Declining? You can say why").focus();
        await page.keyboard.press("Tab");
        await expect(page.getByRole("button", { name: /^Decline/ })).toBeFocused();
      });
    }
  });
}

for (const viewport of screens) {
  test.describe(`at ${viewport.width} x ${viewport.height}`, () => {
    test.use({ viewport });

    test("short names: the decision can be seen without scrolling, with and without a password", async ({ page, context }) => {
      for (const known of [true, false]) {
        const purchase = await newPurchase({ known });
        const path = await askAPerson(purchase);
        await signInAs(context, purchase.buyer.credential);
        await page.goto(path);
        await expect(page.getByLabel("Your password")).toHaveCount(known ? 0 : 1);
        await expectInView(page, viewport.height);
      }
    });

    test("long, Arabic, Japanese and misleading names: the decision can be seen without scrolling, with and without a password, in our font and in a wide one", async ({
      page,
      context,
    }) => {
      for (const [known, ours] of [
        [true, true],
        [false, true],
        [false, false],
      ] as const) {
        // Without our font the page keeps the browser's, which in the journeys is a wide one.
        if (!ours) await page.route("**/fonts/*", (route) => route.abort());
        const purchase = await newPurchase({ known });
        await disguise(purchase);
        // The payee is not verified, so the amount alone would make the page ask for the password.
        if (known) await liftStepUp(purchase);
        const path = await openBasket(purchase, hostileLines);
        const domain = `arnazon.the-marketplace-for-everything-${purchase.seller.domain}`;
        await changeCheckout(path, { domain, metadata: { purpose: `${LONG} ${ARABIC}` } });
        await signInAs(context, purchase.buyer.credential);
        await page.goto(path);
        await expect(page.getByText(/which you paid before. The names look alike./)).toBeVisible();
        await expect(page.getByText("We have not checked that this domain is theirs.")).toBeVisible();
        await expect(page.getByLabel("Your password")).toHaveCount(known ? 0 : 1);
        await expectInView(page, viewport.height);
        await page.getByRole("button", { name: "Show all of the domain" }).click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText(domain);
        // The bar with the buttons stays in view, so the size of what is under it is measured at the end of the page.
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        await expectAccessible(page);
      }
    });

    test("why nothing can be decided can be read without scrolling: no right, an expired request, a declined request", async ({
      page,
      context,
    }) => {
      const purchase = await newPurchase();
      const path = await askAPerson(purchase);
      const viewer = await newMember(purchase.buyer, "viewer");
      await signInAs(context, viewer.credential);
      await page.goto(path);
      await expect(page.getByText("You can read this request, but not decide it.")).toBeInViewport({ ratio: 1 });
      await changeCheckout(path, { expiresAt: new Date(Date.now() - 1000) });
      await page.goto(path);
      await expect(page.getByText(/Nothing was approved, nothing was paid/)).toBeInViewport({ ratio: 1 });
      // The same payment leads to the same request for as long as the service has not closed it.
      await expect.poll(() => statusOf(path)).toBe("expired");
      const declined = await askAPerson(purchase);
      await decline(declined, purchase);
      await page.goto(declined);
      await expect(page.getByRole("heading", { level: 1, name: "Declined" })).toBeInViewport({ ratio: 1 });
    });
  });
}

test("the page names the rule and its limit, the payee's history and what the agent says about the purpose", async ({
  page,
  context,
}) => {
  const purchase = await newPurchase();
  const path = await askAPerson(purchase);
  await changeCheckout(path, { metadata: { purpose: "Welcome gift for the <b>field team</b>." } });
  await signInAs(context, purchase.buyer.credential);
  await page.goto(path);
  await expect(page.getByText("Asks above 25.00 USDC: mandate Lab supplies")).toBeVisible();
  await expect(page.getByText("207.00 of 250.00 USDC a month")).toBeVisible();
  await expect(page.getByText(/^First paid in \w+ \d{4}$/)).toBeVisible();
  await expect(page.getByText("The agent’s words: Welcome gift for the <b>field team</b>.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Your decision" }).getByRole("button", { name: /^Approve/ })).toBeVisible();
  await expect(page).toHaveTitle(`43.00 USDC to ${purchase.seller.domain} – Approve · Countersign`);
  const spacing = await page
    .getByRole("heading", { level: 1 })
    .evaluate((heading) => Number.parseFloat(getComputedStyle(heading).letterSpacing) || 0);
  expect(spacing).toBeGreaterThanOrEqual(0);
});

for (const role of ["approver", "admin"] as const) {
  test(`the page says to an ${role}, without being loaded again, that somebody else decided`, async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await askAPerson(purchase);
    const colleague = await newMember(purchase.buyer, role);
    await signInAs(context, colleague.credential);
    const waits = page.waitForRequest((request) => request.url().includes("waitSeconds="));
    await page.goto(path);
    await waits;
    await decline(path, purchase);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Declined");
    await expect(page.getByText("The reason that was given: We have one.")).toBeVisible();
    await expect(page).toHaveTitle(/ – Declined · Countersign$/);
  });
}

test.describe("at 320 px", () => {
  test.use({ viewport: { width: 320, height: 700 } });

  test("nothing scrolls sideways, and every section opens", async ({ page, context }) => {
    const purchase = await newPurchase({ known: false });
    await disguise(purchase);
    const path = await openBasket(purchase, hostileLines);
    const domain = `arnazon.the-marketplace-for-everything-${purchase.seller.domain}`;
    await changeCheckout(path, { domain, metadata: { purpose: "W".repeat(140) } });
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await expect(page.getByLabel("Your password")).toBeVisible();
    for (const name of [/^Basket and fees/, /^Mandate/, /^Destination/, /^What approving does/, /^Who asks/]) {
      await page.getByRole("button", { name }).click();
    }
    await expect(page.getByRole("button", { name: "copy destination address" })).toBeVisible();
    await expectAccessible(page);
    await page.getByText("Declining? You can say why").click();
    await page.getByLabel("Your password").fill(PASSWORD);
    await page.getByRole("button", { name: /^Approve/ }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
  });
});
