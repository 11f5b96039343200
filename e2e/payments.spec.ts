import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { newOrganization } from "#test/identity.ts";
import { expect, expectAccessible, listensTo, signInAs, test } from "./setup/journey.ts";
import { askFor, submitted } from "./setup/paid.ts";
import { newPurchase } from "./setup/purchase.ts";
import { downloadReceipt } from "./setup/receipt-file.ts";

const narrow = { width: 320, height: 800 };
const wide = { width: 1280, height: 900 };

/** Checks the page at both widths in both color schemes. */
async function expectAccessibleEverywhere(page: Page): Promise<void> {
  for (const size of [narrow, wide]) {
    await page.setViewportSize(size);
    await expectAccessible(page);
  }
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 });
const rows = (page: Page) => page.getByRole("table", { name: "Payments, newest first" }).getByRole("row");
const steps = (page: Page) => page.getByRole("list", { name: "What happened" });

test.describe("payments", () => {
  test("an organization without payments reads what this page will show", async ({ page, context }) => {
    const buyer = await newOrganization({ name: "Larkfield Research" });
    await signInAs(context, buyer.credential);
    await page.goto("/payments");
    await expect(page.getByText("No payments yet")).toBeVisible();
    await expectAccessibleEverywhere(page);
  });

  test("are filtered by the URL, opened by the keyboard, and exported as a file", async ({ page, context }) => {
    const purchase = await newPurchase();
    const allowed = await askFor(purchase, "20.2");
    await askFor(purchase, "200");
    const paid = await askFor(purchase, "12");
    const hash = await submitted(paid, "settled");
    await signInAs(context, purchase.buyer.credential);
    await page.goto("/payments");
    await expect(rows(page)).toHaveCount(4);
    await expectAccessibleEverywhere(page);

    await page.getByRole("combobox", { name: "Decision" }).selectOption("Denied");
    await expect(page).toHaveURL(/outcome=deny/);
    await expect(rows(page)).toHaveCount(2);
    await expect(rows(page).nth(1)).toContainText("200.00 USDC");
    await page.getByRole("combobox", { name: "Decision" }).selectOption("Any decision");
    await expect(rows(page)).toHaveCount(4);
    await page.goBack();
    await expect(rows(page)).toHaveCount(2);
    await expect(page.getByRole("combobox", { name: "Decision" })).toHaveValue("deny");

    await page.goto("/payments");
    await listensTo(page, "/");
    await page.keyboard.press("/");
    await page.keyboard.type(hash);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`q=${hash}`));
    await expect(rows(page)).toHaveCount(2);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export CSV" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^payments-\d{4}-\d{2}-\d{2}\.csv$/);
    const lines = (await readFile(await file.path(), "utf8")).trimEnd().split("\r\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(paid);
    expect(lines[1]).toContain(hash);

    await page.goto("/payments?q=nothing-like-it");
    await expect(page.getByText("No payment matches")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Show all payments" }).click();
    await page.getByRole("link", { name: "Compact rows" }).click();
    await expect(page).toHaveURL(/density=compact/);
    await listensTo(page, "/");
    await page.locator(".row-link").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(`/payments/${allowed}`);
  });

  test("a filter that a person chooses before the page's scripts run is applied afterwards", async ({ page, context }) => {
    const purchase = await newPurchase();
    await askFor(purchase, "20.2");
    await askFor(purchase, "200");
    await signInAs(context, purchase.buyer.credential);
    const { promise: later, resolve: letThrough } = Promise.withResolvers<void>();
    await context.route(/\/_next\/static\/.*\.js/, async (route) => {
      await later;
      await route.continue();
    });
    await page.goto("/payments", { waitUntil: "domcontentloaded" });
    await page.getByRole("combobox", { name: "Decision" }).selectOption("Denied");
    letThrough();
    await expect(page).toHaveURL(/outcome=deny/);
    await expect(rows(page)).toHaveCount(2);
  });

  test("are explained: allowed, denied, waiting for approval and unknown", async ({ page, context }) => {
    const purchase = await newPurchase();
    const { domain } = purchase.seller;
    const allowed = await askFor(purchase, "20.2");
    const denied = await askFor(purchase, "200");
    const asked = await askFor(purchase, "43");
    const unknown = await askFor(purchase, "11");
    await submitted(unknown, "unknown");
    await signInAs(context, purchase.buyer.credential);

    await page.goto(`/payments/${allowed}`);
    await expect(heading(page)).toHaveText(`20.20 USDC to ${domain}`);
    await expect(page.getByRole("heading", { name: "Why it was allowed" })).toBeVisible();
    await expect(page.getByRole("row", { name: /Per payment/ })).toContainText("100.00 USDC");
    await expect(steps(page)).toContainText("Waits for the agent");

    await page.goto(`/payments/${denied}`);
    await expect(page.getByRole("heading", { name: "Why it was denied" })).toBeVisible();
    await expect(page.getByText("The payment was above the limit for one payment.")).toBeVisible();
    await expect(page.getByRole("link", { name: "Edit the mandate" })).toBeVisible();
    await expectAccessibleEverywhere(page);

    await page.goto(`/payments/${asked}`);
    await expect(steps(page)).toContainText("Waits for a person");
    await expect(page.getByRole("link", { name: "Decide now" })).toHaveAttribute("href", /^\/checkout\/cki_/);

    await page.goto(`/payments/${unknown}`);
    await expect(page.locator("h1 + p")).toContainText("Outcome unknown");
    await expect(page.getByText("must not pay again")).toBeVisible();
  });

  test("have signed receipts of the decision and the settlement, which can be verified with the published keys", async ({
    page,
    context,
  }) => {
    const purchase = await newPurchase();
    const settled = await askFor(purchase, "12");
    const transaction = await submitted(settled, "settled");
    const allowed = await askFor(purchase, "20.2");
    await signInAs(context, purchase.buyer.credential);
    await page.goto(`/payments/${settled}`);
    expect(await downloadReceipt(page, "Download the signed decision")).toMatchObject({
      name: `${settled}.json`,
      verdict: { ok: true, claims: { kind: "authorization", sub: settled, outcome: "allow" } },
    });
    expect(await downloadReceipt(page, "Download the signed settlement")).toMatchObject({
      name: expect.stringMatching(/^exe_\w+\.json$/),
      verdict: { ok: true, claims: { kind: "execution", sub: settled, settlement: { status: "settled", transaction } } },
    });
    await page.goto(`/payments/${allowed}`);
    await expect(page.getByRole("link", { name: /^Download the signed/ })).toHaveText(["Download the signed decision"]);
  });

  test("have a printable receipt after they are settled, and cannot be seen by others", async ({ page, context }) => {
    const purchase = await newPurchase();
    const settled = await askFor(purchase, "12");
    const hash = await submitted(settled, "settled");
    await signInAs(context, purchase.buyer.credential);
    await page.goto(`/payments/${settled}`);
    await expect(steps(page)).toContainText("The hold became a payment.");
    await page.getByRole("link", { name: "Receipt" }).first().click();
    await expect(heading(page)).toHaveText("Receipt");
    await expect(page.getByText(hash)).toBeVisible();
    await expectAccessibleEverywhere(page);
    await page.emulateMedia({ media: "print" });
    await expect(page.getByRole("navigation", { name: "Main" })).toBeHidden();
    await expect(page.getByRole("button", { name: "Print" })).toBeHidden();
    await expect(page.getByText(hash)).toBeVisible();
    await page.emulateMedia({ media: "screen" });

    const other = await newOrganization({ name: "Somebody else" });
    await context.clearCookies();
    await signInAs(context, other.credential);
    for (const path of [`/payments/${settled}`, `/payments/${settled}/receipt`, "/payments?cursor=made-up"]) {
      const reply = await page.goto(path);
      expect(reply?.status()).toBe(404);
      await expect(heading(page)).toBeVisible();
      await expect(page.getByText(hash)).toBeHidden();
    }
    await expectAccessible(page);
    await context.clearCookies();
    expect((await page.request.get("/payments/export.csv")).status()).toBe(401);
  });
});
