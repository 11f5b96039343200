import assert from "node:assert/strict";
import { approveCheckout } from "#lib/commerce/checkout-contract.ts";
import { stepUp } from "#lib/approvals/decision/contract.ts";
import { isPackaged } from "#lib/process.ts";
import { checkoutIn } from "../../examples/order.ts";
import { chromiumAtHand } from "../chromium.ts";
import type { Person } from "./person.ts";
import type { Tell } from "./timeline.ts";

const PAGE_LIMIT_MS = 120_000;
/**
 * Chromium's sandbox does not work as root and in most containers. The page is on this machine and belongs to the demo, so no
 * sandbox is needed.
 */
const flags = ["--no-sandbox", "--disable-dev-shm-usage"];

/** Opens the link, signs in and presses the button, as a person does on their phone. */
async function inBrowser(executablePath: string, url: string, { email, password }: Person): Promise<string> {
  const { chromium } = await import("@playwright/test");
  const browser = await chromium.launch({ executablePath, args: flags });
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    page.setDefaultTimeout(PAGE_LIMIT_MS);
    await page.goto(url);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByLabel("Your password").fill(password);
    await page.getByRole("button", { name: /^Approve / }).click();
    const heading = page.getByRole("heading", { level: 1, name: /^Approved/ });
    await heading.waitFor();
    return (await heading.textContent()) ?? "";
  } finally {
    await browser.close();
  }
}

/**
 * Approves without a browser. It first opens the page with the person's session, so that the service records which terms they
 * were shown.
 */
async function bySession(url: string, { ask, open, password }: Person): Promise<string> {
  const checkoutIntentId = checkoutIn(url);
  const page = await open(url);
  assert.equal(page.status, 200, `The confirmation page answered ${page.status}.`);
  await page.text();
  await ask(stepUp, { body: { checkoutIntentId, password } });
  const { approval } = await ask(approveCheckout, { checkoutIntentId, body: {} });
  return `Approved: ${approval.approvalId}`;
}

/** Approves as the buyer: on the page in a real Chromium if one is installed, or else through the API. */
export async function confirm(tell: Tell, url: string, person: Person): Promise<void> {
  // The package comes without the library that drives a browser.
  const chromium = isPackaged() ? null : await chromiumAtHand();
  tell("link", url);
  tell("browser", chromium === null ? "no browser was found, so she approved through the API" : chromium);
  tell("page", chromium === null ? await bySession(url, person) : await inBrowser(chromium, url, person));
}
