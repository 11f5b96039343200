import { expect, expectAccessible, test } from "./setup/journey.ts";

/* The other browser tests rely on the accessibility check, so this file tests that the check finds mistakes. */

test("the accessibility check finds a mistake in the light scheme and one in the dark scheme only", async ({ page }) => {
  await page.goto("/sign-in");
  await expectAccessible(page);
  await page.evaluate(() => {
    const planted = document.createElement("p");
    planted.id = "planted";
    planted.textContent = "Hard to read";
    document.querySelector("main")?.append(planted);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("@media (prefers-color-scheme: dark) { #planted { color: #333; background: #222 } }");
    document.adoptedStyleSheets.push(sheet);
  });
  await expect(expectAccessible(page)).rejects.toThrow(/^dark[\s\S]*color-contrast/);
  await page.evaluate(() => document.querySelector("#planted")?.replaceChildren(document.createElement("img")));
  await expect(expectAccessible(page)).rejects.toThrow(/^light[\s\S]*image-alt/);
});
