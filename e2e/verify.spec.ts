import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./setup/journey.ts";

type Vector = { readonly name: string; readonly step?: string; readonly answer: unknown };
type Vectors = { readonly keys: unknown; readonly valid: readonly Vector[]; readonly invalid: readonly Vector[] };

const vectors = JSON.parse(await readFile("docs/receipts/vectors.json", "utf8")) as Vectors;
const textOf = (name: string): string => {
  const vector = [...vectors.valid, ...vectors.invalid].find((one) => one.name === name);
  if (!vector) throw new Error(`There is no vector named ${name}.`);
  return JSON.stringify(vector.answer, null, 2);
};

const stepsOf = (page: Page) => page.getByRole("list", { name: "Steps" }).getByRole("listitem");
const statesOf = async (page: Page): Promise<string[]> =>
  (await stepsOf(page).allInnerTexts()).map((text) => /^(Done|Failed|Not reached)/.exec(text)?.[0] ?? text);

test.describe("the page that verifies receipts", () => {
  test("verifies a receipt and names the step that fails for a changed one, and sends nothing", async ({ page }) => {
    // On a busy machine the network can be idle before the page loads the keys, so wait for the keys.
    const keys = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/.well-known/jwks.json"));
    await page.goto("/verify");
    await keys;
    await page.waitForLoadState("networkidle");
    const requests: string[] = [];
    // The page loads code while a person uses the form. Such a request contains nothing that the person entered.
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      const isCode = request.method() === "GET" && search === "" && /^\/_next\/static\/.*\.js$/.test(pathname);
      if (!isCode) requests.push(request.url());
    });
    const verdict = page.getByRole("status").filter({ hasText: /erified/ });
    await page.getByLabel("Published keys").fill(JSON.stringify(vectors.keys));
    await page.getByLabel("Answer with the receipt").fill(textOf("execution, settled"));
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await expect(verdict).toContainText("Verified. https://pay.example.com signed this receipt on 2026-11-23 at 12:00:00 UTC");
    await expect(verdict).toContainText("those at https://pay.example.com/.well-known/jwks.json");
    expect(await statesOf(page)).toEqual(Array.from({ length: 6 }, () => "Done"));
    await expectAccessible(page);

    await page.getByLabel("Answer with the receipt").fill(textOf("a denial stated as allow, signed"));
    await expect(stepsOf(page)).toHaveCount(0);
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await expect(verdict).toContainText("Not verified. The event in the log does not agree with the receipt about the outcome.");
    expect(await statesOf(page)).toEqual(["Done", "Done", "Failed", "Not reached", "Not reached", "Not reached"]);
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);

    await page.getByLabel("Answer with the receipt").fill("not JSON");
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await expect(verdict).toContainText("not JSON in which every member occurs once");
    expect(requests).toEqual([]);
  });

  test("reads a saved file, and can be used with only the keyboard", async ({ page }) => {
    await page.goto("/verify");
    await page
      .getByLabel("Or a saved file")
      .setInputFiles({ name: "receipt.json", mimeType: "application/json", buffer: Buffer.from(textOf("without proof")) });
    await expect(page.getByLabel("Answer with the receipt")).toHaveValue(textOf("without proof"));
    await page.getByLabel("Published keys").fill(JSON.stringify(vectors.keys));
    await page.keyboard.press("Tab");
    await expect(page.getByRole("button", { name: "Verify", exact: true })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("status").filter({ hasText: "Signature verified." })).toContainText(
      "only the signature was checked",
    );
    expect(await statesOf(page)).toEqual(["Done", ...Array.from({ length: 5 }, () => "Not reached")]);
    await page
      .getByLabel("Or a saved file")
      .setInputFiles({ name: "film.json", mimeType: "application/json", buffer: Buffer.alloc(1_000_001) });
    await expect(page.getByRole("status").filter({ hasText: "cannot be read" })).toBeVisible();
    await expect(stepsOf(page)).toHaveCount(0);
  });

  test("fills in the keys that this service publishes", async ({ page }) => {
    const [reply] = await Promise.all([page.waitForResponse("**/.well-known/jwks.json"), page.goto("/verify")]);
    await expect(page.getByLabel("Published keys")).toHaveValue(await reply.text());
  });

  test("says what to do on an http page, where the browser cannot check signatures", async ({ browser, baseURL }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(`http://plain.example:${new URL(baseURL!).port}/verify`);
    expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
    const verdict = page.getByRole("status").filter({ hasText: "Open this page over https" });
    await expect(verdict).toBeVisible();
    await page.getByLabel("Published keys").fill(JSON.stringify(vectors.keys));
    await page.getByLabel("Answer with the receipt").fill(textOf("execution, settled"));
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await expect(verdict).toBeVisible();
    await expect(stepsOf(page)).toHaveCount(0);
    await expectAccessible(page);
    expect(errors).toEqual([]);
    await context.close();
  });

  test("is in the documentation and on the start page", async ({ page }) => {
    await page.goto("/");
    await page.getByRole("link", { name: "Verify a receipt" }).click();
    await expect(page.getByRole("heading", { name: "Verify a receipt", level: 1 })).toBeVisible();
    await expect(
      page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link", { name: "Verify a receipt" }),
    ).toHaveAttribute("aria-current", "page");
  });
});
