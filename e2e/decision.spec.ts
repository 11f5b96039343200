import { createServer } from "node:http";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { changeBasket, changeCheckout, newPurchase, openBasket, openRequest } from "./setup/purchase.ts";

const approve = /^Approve .* USDC to /;
const notebook = { productId: "notebook", name: "Field notebook", color: "Graphite", quantity: 6, unitAmount: "4.20" };
const labels = { productId: "labels", name: "Sample labels", quantity: 2, unitAmount: "6.75" };
const envelope = { productId: "envelope", name: "Specimen envelope", quantity: 1, unitAmount: "3.90" };

test.describe("other decisions", () => {
  test("declining says that nothing was paid, and the agent gets the reason", async ({ page, context }) => {
    await openRequest({ page, context }, { known: false });
    await page.getByText("Declining? You can say why").click();
    await page.getByLabel("Reason for declining (optional)").fill("We have one already.");
    await expectAccessible(page);
    const sent = page.waitForRequest((request) => request.url().endsWith("/reject"));
    await page.getByRole("button", { name: "Decline" }).click();
    expect((await sent).postDataJSON()).toEqual({ reason: "We have one already." });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Declined");
    await expect(page.getByText("Nothing was paid, and nothing is held under your mandate.")).toBeVisible();
    await expectAccessible(page);
  });

  test("an expired request cannot be decided", async ({ page, context }) => {
    const { path } = await openRequest({ page, context });
    await expect(page.getByRole("button", { name: approve })).toBeEnabled();
    await changeCheckout(path, { expiresAt: new Date(Date.now() - 1000) });
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This request has expired");
    await expect(page.getByText("Nothing was approved, nothing was paid, and nothing is held")).toBeVisible();
    await expectAccessible(page);
  });

  test("the countdown is announced at 60 and at 10 seconds, and ends the decision", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [notebook]);
    await signInAs(context, purchase.buyer.credential);
    await page.clock.install();
    await page.goto(path);
    const said = page.locator("output.sr");
    await page.clock.runFor(1000);
    await expect(page.getByRole("button", { name: approve })).toBeEnabled();
    await page.clock.runFor(510_000);
    await expect(said).toHaveText("");
    await page.clock.runFor(12_000);
    await expect(said).toHaveText(/expires in (60|59|58) seconds/);
    await page.clock.runFor(30_000);
    await expect(said).toHaveText(/expires in (60|59|58) seconds/);
    await page.clock.runFor(21_000);
    await expect(said).toHaveText(/expires in (10|9|8) seconds/);
    await page.clock.runFor(12_000);
    await expect(page.getByRole("button", { name: approve })).toBeDisabled();
    await expect(page.getByText("This request has expired. Nothing was approved.")).toBeVisible();
  });

  test("a basket that changes before the click is shown again, with what changed", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [notebook, labels, envelope]);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await expect(page.getByRole("button", { name: "Approve 42.60 USDC to " })).toBeEnabled();
    await changeBasket(purchase, path, [
      { ...notebook, quantity: 8 },
      { ...labels, unitAmount: "7.10" },
    ]);
    await page.getByRole("button", { name: "Approve 42.60 USDC to " }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("The basket changed. Nothing was approved.");
    await expect(page.getByText("Your click did not count.")).toBeVisible();
    await expect(page.getByText("New total", { exact: true })).toBeAttached();
    await expect(
      page
        .getByRole("row", { name: /Field notebook/ })
        .locator("del")
        .first(),
    ).toHaveText("was 6");
    await expect(page.getByRole("row", { name: /Specimen envelope/ })).toContainText("Removed by the seller");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Approve 47.80 USDC to " }).click();
    await expect(page.getByRole("checkbox", { name: /I have read the 3 changes/ })).toBeFocused();
    await page.getByRole("checkbox", { name: /I have read the 3 changes/ }).check();
    await page.getByRole("button", { name: "Approve 47.80 USDC to " }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
  });

  test("a total that did not change is not called new", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [notebook]);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await changeBasket(purchase, path, [{ ...notebook, color: "Blue" }]);
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("The basket changed. Nothing was approved.");
    await expect(page.getByText("Total", { exact: true }).first()).toBeAttached();
    await expect(page.getByText("New total", { exact: true })).toHaveCount(0);
  });

  test("if the service cannot be reached, the page says that nothing was approved, and the next click works", async ({
    page,
    context,
  }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [notebook]);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await page.route("**/approve", (route) => route.abort());
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("alert").filter({ hasText: "Nothing was approved." })).toContainText(
      "could not reach the service",
    );
    await expect(page.getByRole("button", { name: approve })).toBeFocused();
    await expectAccessible(page);
    await page.unroute("**/approve");
    await page.getByRole("button", { name: approve }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
  });

  test("a checkout that no mandate covers can only be declined", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [{ ...notebook, quantity: 40 }]);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await expect(page.getByText(/above the limit|exceeds|more than/i).first()).toBeVisible();
    await expect(page.getByRole("button", { name: approve })).toBeDisabled();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Decline" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Declined");
  });

  test("the page says if a request was canceled or replaced", async ({ page, context }) => {
    const purchase = await newPurchase();
    await signInAs(context, purchase.buyer.credential);
    for (const [status, heading] of [
      ["canceled", "This request was withdrawn"],
      ["superseded", "The basket changed, so this request was replaced"],
    ] as const) {
      const path = await openBasket(purchase, [{ ...notebook, name: status }]);
      await changeCheckout(path, { status });
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
      await expectAccessible(page);
    }
  });
});

test.describe("the shown terms", () => {
  test("markup in an item's name is shown as text, and hidden direction characters become a visible sign", async ({
    page,
    context,
  }) => {
    const purchase = await newPurchase();
    const name = `<img src=x onerror="alert(1)"> \u202E00.0 CDSU\u2066 <b>free</b>`;
    const path = await openBasket(purchase, [
      { ...notebook, name, color: "javascript:alert(1)", size: "W".repeat(200) },
      { ...labels, name: "\u200Bה\u05D0\u202B" },
    ]);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    const basket = page.getByRole("region", { name: /^Basket/ });
    await expect(basket.getByRole("rowheader", { name: /free/ })).toContainText(
      '<img src=x onerror="alert(1)"> \uFFFD00.0 CDSU\uFFFD <b>free</b>',
    );
    await expect(basket.locator("img, b, a, script")).toHaveCount(0);
    expect(await page.locator("main").textContent()).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/);
    await page.setViewportSize({ width: 320, height: 700 });
    await expectAccessible(page);
  });

  test("an international domain is shown in its ASCII form", async ({ page, context }) => {
    const purchase = await newPurchase({ domain: "xn--bcher-kva.example" });
    const path = await openBasket(purchase, [notebook]);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("xn--bcher-kva.example");
    await expect(page.getByText("International name, written bücher.example")).toBeVisible();
  });

  test("addresses can be copied and read in full", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [notebook]);
    await signInAs(context, purchase.buyer.credential);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(path);
    await page.getByRole("button", { name: "copy destination address" }).click();
    await expect(page.locator("output.sr")).toHaveText("Copied");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    await page.getByText("Show full addresses").click();
    await expect(page.getByRole("region", { name: "Destination" }).getByText(copied, { exact: true })).toBeVisible();
    expect(copied).toMatch(/^0x[0-9a-fA-F]{40}$/);
  });

  test("a page that returns to the foreground ignores clicks for a moment", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [notebook]);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(path);
    const button = page.getByRole("button", { name: approve });
    await expect(button).toBeEnabled();
    await page.evaluate(() => {
      window.dispatchEvent(new Event("focus"));
    });
    await expect(button).toHaveAttribute("aria-disabled", "true");
    await button.click({ force: true });
    await expect(button).toHaveAttribute("aria-disabled", "false");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(purchase.seller.domain);
  });

  test("the page cannot be framed", async ({ page, context }) => {
    const purchase = await newPurchase();
    const path = await openBasket(purchase, [notebook]);
    await signInAs(context, purchase.buyer.credential);
    const reply = await page.request.get(path);
    expect(reply.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(reply.headers()["x-frame-options"]).toBe("DENY");
    const other = createServer((_, response) => {
      response.setHeader("content-type", "text/html").end(`<iframe src="${process.env["BASE_URL"]}${path}"></iframe>`);
    });
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
    const address = other.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const frames = await context.browser()!.newContext();
    const outside = await frames.newPage();
    const failed = outside.waitForEvent("requestfailed");
    await outside.goto(`http://127.0.0.1:${port}/`);
    await failed;
    // The browser reports the failed request before the frame shows the error page.
    await expect.poll(() => outside.frames()[1]?.url()).toMatch(/^chrome-error:/);
    await frames.close();
    other.close();
  });

  test.describe("without JavaScript", () => {
    test.use({ javaScriptEnabled: false });

    test("all facts are shown, and nothing can be decided", async ({ page, context }) => {
      const purchase = await newPurchase();
      const path = await openBasket(purchase, [notebook, labels]);
      await signInAs(context, purchase.buyer.credential);
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(purchase.seller.domain);
      for (const fact of ["38.70 USDC", "Field notebook", "Sample labels", "Lab supplies", "Base Sepolia"]) {
        await expect(page.getByRole("main").getByText(fact).filter({ visible: true }).first()).toBeVisible();
      }
      await expect(page.getByRole("button", { name: approve })).toBeDisabled();
      // If the test disables scripts, the browser does not render noscript elements.
      expect(await page.content()).toContain("Deciding needs JavaScript.");
    });
  });
});
