import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { verifyReceiptText, type Verdict } from "#lib/receipts/verify-receipt.ts";

/** Downloads the receipt from a link, and verifies it with the keys that the service publishes. */
export async function downloadReceipt(page: Page, link: string): Promise<{ readonly name: string; readonly verdict: Verdict }> {
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: link, exact: true }).click();
  const file = await download;
  const keys = await page.request.get("/.well-known/jwks.json");
  const verdict = await verifyReceiptText(await readFile(await file.path(), "utf8"), await keys.text());
  return { name: file.suggestedFilename(), verdict };
}
