import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "@playwright/test";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { session } from "#lib/identity/tables.ts";
import { refusals, refuse } from "#lib/server/refusal.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { askAPerson, newPurchase } from "./setup/purchase.ts";
import { askFor } from "./setup/paid.ts";

const LIVE = "Shows changes as they happen";

/** Returns a function that counts the requests of all tabs for the stream of changes. */
function countStreams(context: BrowserContext): () => number {
  let count = 0;
  context.on("request", (request) => {
    if (new URL(request.url()).pathname === "/changes") count += 1;
  });
  return () => count;
}

/** Holds the page's requests that match the pattern. Returns the function that lets them continue. */
async function hold(page: Page, pattern: string): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(pattern, async (route) => {
    await held.promise;
    await route.continue();
  });
  return held.resolve;
}

test("two tabs show a request at once over one stream, and a tab that stays open takes the stream over", async ({ context }) => {
  const purchase = await newPurchase();
  await signInAs(context, purchase.buyer.credential);
  const streams = countStreams(context);
  const approvals = await context.newPage();
  const home = await context.newPage();
  for (const [page, path] of [
    [approvals, "/approvals"],
    [home, "/home"],
  ] as const) {
    await page.goto(path);
    await expect(page.getByText(LIVE)).toBeVisible();
  }
  await expectAccessible(approvals);
  expect(streams()).toBe(1);
  await home.bringToFront();
  await askAPerson(purchase);
  const began = Date.now();
  await Promise.all([approvals, home].map((page) => page.getByText(purchase.seller.domain).first().waitFor()));
  expect(Date.now() - began).toBeLessThan(20_000);
  for (const page of [approvals, home]) await expect(page.getByRole("heading", { name: "Waiting for you" })).toBeVisible();
  expect(streams()).toBe(1);
  await approvals.close();
  await expect.poll(streams).toBe(2);
  await expect(home.getByText(LIVE)).toBeVisible();
  await askFor(purchase, "0.5");
  await expect(home.getByRole("region", { name: "Recent payments" }).getByText("0.50")).toBeVisible();
});

test("a page shows a request that was opened after the page was read and before the stream was open", async ({
  page,
  context,
}) => {
  const purchase = await newPurchase();
  await signInAs(context, purchase.buyer.credential);
  const openStream = await hold(page, "**/changes*");
  await page.goto("/approvals");
  await expect(page.getByText("Nothing to approve")).toBeVisible();
  await askAPerson(purchase);
  openStream();
  await page.getByText(LIVE).waitFor();
  await page.getByText(purchase.seller.domain).first().waitFor();
});

test("a second tab shows a request that the first tab heard of while the second one was loading", async ({ context }) => {
  const purchase = await newPurchase();
  await signInAs(context, purchase.buyer.credential);
  const streams = countStreams(context);
  const [first, second] = [await context.newPage(), await context.newPage()];
  await first.goto("/approvals");
  await expect(first.getByText(LIVE)).toBeVisible();
  const runScripts = await hold(second, "**/_next/static/**/*.js");
  await second.goto("/approvals", { waitUntil: "commit" });
  await expect(second.getByText("Nothing to approve")).toBeVisible();
  await askAPerson(purchase);
  await first.getByText(purchase.seller.domain).first().waitFor();
  runScripts();
  await second.getByText(LIVE).waitFor();
  await second.getByText(purchase.seller.domain).first().waitFor();
  expect(streams()).toBe(1);
});

test("the page shows payments as they happen, and a session that has ended leads to the sign-in", async ({ page, context }) => {
  const purchase = await newPurchase();
  await signInAs(context, purchase.buyer.credential);
  await page.goto("/payments");
  await expect(page.getByText(LIVE)).toBeVisible();
  await askFor(purchase, "0.75");
  await expect(page.getByRole("cell", { name: /0.75/ })).toBeVisible();
  await database().delete(session).where(eq(session.userId, purchase.buyer.userId));
  await expect(page).toHaveURL(/\/sign-in/);
});

test("if the stream is interrupted, the page is refreshed at intervals", async ({ page, context }) => {
  const purchase = await newPurchase();
  await signInAs(context, purchase.buyer.credential);
  await context.route("**/changes*", (route) => route.abort());
  await page.goto("/approvals");
  await expect(page.getByText("Refreshes every 10 seconds while it is open")).toBeVisible();
  await askAPerson(purchase);
  await expect(page.getByText(purchase.seller.domain).first()).toBeVisible({ timeout: 20_000 });
});

test("a page that could not be shown loads again by itself when it can be", async ({ page }) => {
  let lost = true;
  const server = createServer((_incoming, outgoing) => {
    if (lost) refuse(outgoing, refusals.lost);
    else outgoing.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Here it is</h1>");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The database does not answer");
  lost = false;
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Here it is");
  server.close();
  server.closeAllConnections();
});
