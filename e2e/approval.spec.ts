import { PASSWORD, newInvitation, newMember, newOrganization } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askAPerson, changeCheckout, newPurchase, openBasket, openRequest, writeMandate } from "./setup/purchase.ts";
import { downloadReceipt } from "./setup/receipt-file.ts";

const approve = /^Approve 43.00 USDC to acme-[0-9a-f]+.example$/;
const lines = [
  { productId: "notebook", name: "Field notebook, dotted paper", color: "Graphite", size: "A5", quantity: 6, unitAmount: "4.20" },
  { productId: "labels", name: "Waterproof sample labels, roll of 250", color: "White", quantity: 2, unitAmount: "6.75" },
  { productId: "envelope", name: "Specimen envelope, acid-free", size: "C6", quantity: 1, unitAmount: "4.30" },
];

test.describe("approving", () => {
  test("a new person is invited, signs up, joins, and returns to the checkout", async ({ page }) => {
    const purchase = await newPurchase();
    const path = await askAPerson(purchase);
    const email = `${crypto.randomUUID()}@example.com`;
    const invitationToken = await newInvitation(purchase.buyer, email, "approver");
    await page.goto(path);
    await expect(page).toHaveURL(/\/sign-in\?returnTo=/);
    await expect(page.getByText("come back to the payment")).toBeVisible();
    await page.goto(
      `/sign-up?returnTo=${encodeURIComponent(`/invitations/${invitationToken}?${new URLSearchParams({ returnTo: path })}`)}`,
    );
    await page.getByLabel("Name").fill("Mira Okafor");
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "You are invited" })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Accept and join" }).click();
    await expect(page).toHaveURL(path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(purchase.seller.domain);
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
    await expect(page.getByText("Countersigned", { exact: true }).first()).toBeVisible();
  });

  test("a person who must sign in first returns to the checkout", async ({ page }) => {
    const purchase = await newPurchase();
    const path = await askAPerson(purchase);
    await page.goto(path);
    await expectAccessible(page);
    await page.getByLabel("E-mail").fill(purchase.buyer.email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page).toHaveURL(path);
    await expect(page.getByRole("button", { name: approve })).toBeEnabled();
    await expectAccessible(page);
  });

  test.describe("on a phone", () => {
    test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

    test("a basket is read and approved", async ({ page, context }) => {
      const purchase = await newPurchase();
      const path = await openBasket(purchase, lines);
      await signInAs(context, purchase.buyer.credential);
      await page.goto(path);
      await expect(page.getByText("SANDBOX")).toBeVisible();
      await page.getByRole("button", { name: /^Basket and fees/ }).tap();
      await expect(
        page.getByRole("row", { name: /Field notebook, dotted paper.*Graphite, A5.*6.*4.20 USDC.*25.20 USDC/ }),
      ).toBeVisible();
      await expect(page.getByText("Verified seller")).toBeVisible();
      await expectAccessible(page);
      await page.getByRole("button", { name: approve }).tap();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
      await expectAccessible(page);
    });
  });

  test("the first payment to a seller asks for the password", async ({ page, context }) => {
    await openRequest({ page, context }, { known: false });
    await expect(page.getByLabel("Your password")).toHaveAccessibleDescription(/first payment to this seller/);
    await expectAccessible(page);
    await page.getByLabel("Your password").fill("not the password");
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByLabel("Your password")).toHaveAccessibleDescription(/not your password/);
    await expect(page.getByLabel("Your password")).toBeFocused();
    await expectAccessible(page);
    await page.getByLabel("Your password").fill(PASSWORD);
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
  });

  test("the receipt shows the agent's progress", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, lines);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
    await changeCheckout(path, { status: "authorized" });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. The agent continues.");
    await changeCheckout(path, { status: "executing" });
    await changeCheckout(path, { status: "completed" });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved and paid.");
    await expectAccessible(page);
  });

  test("an approval has a signed receipt, which can be verified with the published keys", async ({ page, context }) => {
    await openRequest({ page, context });
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
    const { name, verdict } = await downloadReceipt(page, "Signed approval");
    expect(verdict).toMatchObject({
      ok: true,
      claims: { kind: "approval", approval: { id: expect.stringMatching(/^apr_/) } },
    });
    expect(name).toBe(verdict.ok ? `${verdict.claims.jti}.json` : "");
  });

  test("a different mandate can be chosen", async ({ page, context }) => {
    const purchase = await newPurchase();
    await writeMandate(purchase.buyer, "Field equipment");
    const path = await openBasket(purchase, lines);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await page.getByText("Pay under another mandate").click();
    await page.getByRole("radio", { name: "Field equipment" }).check();
    await expect(page.getByRole("region", { name: "Mandate" }).getByText("207.00 USDC").first()).toBeVisible();
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
  });

  test("works with only the keyboard", async ({ page, context }) => {
    const { purchase } = await openRequest({ page, context });
    await expect(page.getByRole("button", { name: approve })).toBeEnabled();
    const reached: string[] = [];
    const button = `Approve 43.00 USDC to ${purchase.seller.domain}`;
    for (let step = 0; step < 20 && reached.at(-1) !== button; step += 1) {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate(() => document.activeElement?.textContent?.trim() ?? ""));
    }
    expect(reached[0]).toBe("Skip to content");
    expect(reached.slice(-2)).toEqual(["Decline", button]);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
    await expect(page.getByRole("main")).toBeFocused();
  });

  test("a double click approves once", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await askAPerson(purchase);
    await signInAs(context, purchase.buyer.credential);
    const sent: string[] = [];
    page.on("request", (request) => request.url().endsWith("/approve") && sent.push(request.url()));
    await page.goto(path);
    await page.getByRole("button", { name: approve }).dblclick();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
    expect(sent).toHaveLength(1);
  });

  test("two tabs make one approval", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await askAPerson(purchase);
    await signInAs(context, purchase.buyer.credential);
    const other = await context.newPage();
    // Abort the long polls, because otherwise the second tab would learn of the decision and remove its buttons.
    await context.route(/waitSeconds=/, (route) => route.abort());
    await Promise.all([page.goto(path), other.goto(path)]);
    const ids: string[] = [];
    for (const tab of [page, other]) {
      await tab.getByRole("button", { name: approve }).click();
      await expect(tab.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
      ids.push((await tab.getByRole("button", { name: "copy approval id" }).getAttribute("title")) ?? "");
    }
    expect(ids[0]).toMatch(/^apr_/);
    expect(ids[1]).toBe(ids[0]);
  });

  test("a member without the right to decide sees who can decide", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await askAPerson(purchase);
    const viewer = await newMember(purchase.buyer, "viewer");
    await signInAs(context, viewer.credential);
    await page.goto(path);
    await expect(page.getByText("You can read this request, but not decide it.")).toBeVisible();
    await expect(page.getByRole("button", { name: approve })).toHaveCount(0);
    await expectAccessible(page);
    const finance = await newMember(purchase.buyer, "finance");
    await signInAs(context, finance.credential);
    await page.goto(path);
    await expect(page.getByRole("heading", { name: "Your role does not show payments that wait" })).toBeVisible();
    await expectAccessible(page);
  });

  test("another organization gets no page", async ({ page, context }) => {
    const path = await askAPerson(await newPurchase());
    await signInAs(context, (await newOrganization()).credential);
    expect((await page.goto(path))?.status()).toBe(404);
    await expect(page.getByRole("heading", { name: "There is no page here" })).toBeVisible();
  });
});
