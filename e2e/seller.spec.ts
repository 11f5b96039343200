import type { BrowserContext, Page } from "@playwright/test";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { call } from "#lib/http/client.ts";
import { createServiceAccount } from "#lib/identity/keys/contract.ts";
import { getSession } from "#lib/identity/sessions/contract.ts";
import { routesOf } from "#lib/pages/seller/snippets.ts";
import { PASSWORD, newMember, newOrganization } from "#test/identity.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { chainAt, localChainId, usdcAddress } from "../examples/chain.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { openShop } from "./setup/shop.ts";
import { injectWallet } from "./setup/wallet.ts";

const coin = {
  chain: localChainId,
  asset: "USDC",
  tokenAddress: usdcAddress,
  tokenName: "USDC",
  tokenVersion: "2",
  tokenDecimals: 6,
};

/** Returns the service's address and the headers with which a test calls the API in the session of the browser. */
async function asBrowser(context: BrowserContext) {
  const baseUrl = process.env["BASE_URL"] ?? "";
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  return { baseUrl, headers: { cookie, origin: baseUrl } };
}

async function signUpToSell(page: Page): Promise<void> {
  await page.goto("/sign-up");
  await page.getByLabel("Name").fill("Jonas Feld");
  await page.getByLabel("E-mail").fill(`${crypto.randomUUID()}@example.com`);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("heading", { name: "Set up your organization" })).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill(`Weather Desk ${crypto.randomUUID().slice(0, 8)}`);
  await page.getByRole("checkbox", { name: "Buy" }).uncheck();
  await page.getByRole("checkbox", { name: "Sell" }).check();
  await expect(page.getByRole("heading", { name: "Put a price on something" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Write a mandate" })).toBeHidden();
  await page.getByRole("button", { name: "Create organization" }).click();
}

/** Checks the page on the narrowest screen, where it overflows first. */
async function expectAccessibleWhenNarrow(page: Page): Promise<void> {
  const wide = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 900 });
  await expectAccessible(page);
  if (wide) await page.setViewportSize(wide);
}

test.describe("selling", () => {
  test("from sign-up to a resource that a standard x402 client pays", async ({ page, context }) => {
    const shop = await openShop();
    const payTo = randomAddress();
    await signUpToSell(page);
    await expect(page).toHaveURL("/get-started");
    await page.goto("/seller");
    await expectAccessibleWhenNarrow(page);

    await page.getByRole("link", { name: "Register seller" }).click();
    await page.getByRole("button", { name: "Register seller" }).click();
    await expect(page.getByLabel("Name")).toHaveAccessibleDescription(/Fill this in/);
    await page.getByLabel("Name").fill("Weather Desk");
    await page.getByLabel("Domain").fill("not a domain");
    await page.getByRole("button", { name: "Register seller" }).click();
    await expect(page.getByLabel("Domain")).toHaveAccessibleDescription(/host name/);
    await page.getByLabel("Domain").fill(shop.domain);
    await page.getByRole("button", { name: "Register seller" }).click();
    await expect(page.getByText("Not verified", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Check the file" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "The domain is not verified." })).toBeVisible();
    await expectAccessibleWhenNarrow(page);
    shop.publish(await page.getByLabel("The file").locator("code").innerText());
    await page.getByRole("button", { name: "Check the file" }).click();
    await expect(page.getByText("Verified seller", { exact: true })).toBeVisible();

    await page.goto("/seller");
    await page.getByRole("link", { name: "New resource" }).click();
    await page.getByLabel("Path template").fill("/report");
    await expect(page.getByLabel("Resource id")).toHaveValue("report");
    await page.getByLabel("Description").fill("Ten-day forecast");
    await page.getByLabel("Price").fill("0.25");
    await page.getByLabel("Paid to").fill(payTo);
    const preview = page.getByLabel("What an unpaid call gets").locator("code");
    await expect(preview).toContainText('"amount": "250000"');
    await expect(preview).toContainText(payTo);
    const code = page.getByLabel("With @x402/express").locator("code");
    await expect(code).toContainText("url: process.env.FACILITATOR_URL");
    await page.getByLabel("Who settles").selectOption("This service");
    await expect(code).toContainText("/api/x402");
    await page.getByLabel("Who settles").selectOption("Your server");
    await expectAccessibleWhenNarrow(page);
    await page.getByRole("button", { name: "Create resource" }).click();
    await expect(page.getByRole("heading", { name: "GET /report" })).toBeVisible();

    await page.getByRole("button", { name: "Test it" }).click();
    await expect(page.getByText("It answered without asking for a payment.")).toBeVisible();
    const options = await asBrowser(context);
    const { session } = await call(getSession, {}, options);
    const organizationId = session.activeOrganization?.organizationId ?? "";
    const body = { name: "Server", organizationId, capabilities: ["payments:settle" as const] };
    const { apiKey = "" } = await call(createServiceAccount, { body }, options);
    const pricing = { type: "fixed", amount: "0.25", asset: "USDC" } as const;
    const settlement = { payTo, maxTimeoutSeconds: 300, settlementMode: "offchainAuthorized" } as const;
    shop.sell(routesOf({ resourceId: "report", method: "GET", pathTemplate: "/report", pricing, ...settlement }, coin), apiKey);
    await page.getByRole("button", { name: "Test it" }).click();
    await expect(page.getByText("Agents can pay.", { exact: true }).first()).toBeVisible();
    await expectAccessibleWhenNarrow(page);

    const payee = page.getByRole("region", { name: "Address that is paid" });
    await expect(payee.getByText("Not proven", { exact: true })).toBeVisible();
    await payee.getByRole("tab", { name: "By your domain" }).click();
    await payee.getByRole("button", { name: "Ask the resource" }).click();
    await expect(payee.getByText("Proven", { exact: true })).toBeVisible();

    const wallet = privateKeyToAccount(generatePrivateKey());
    const chain = chainAt(process.env["CHAIN_RPC_URL"] ?? "");
    await chain.mint(wallet.address, 1_000_000n);
    const pay = wrapFetchWithPayment(fetch, new x402Client().register(localChainId, new ExactEvmScheme(wallet)));
    const reply = await pay(`${shop.url}/report`);
    expect(reply.status).toBe(200);
    expect(await chain.balanceOf(payTo)).toBe(250_000n);
    await shop.close();

    await page.goto("/seller/payments?status=settled");
    const row = page.getByRole("row").filter({ hasText: "report" });
    await expect(row.getByText("Settled")).toBeVisible();
    await expect(row.getByText("0.25 USDC")).toBeVisible();
    await expect(row.getByRole("button", { name: /payer address/ })).toHaveAttribute("title", wallet.address.toLowerCase());
    await expectAccessibleWhenNarrow(page);
    await page.getByLabel("State").focus();
    await page.getByLabel("State").selectOption("failed");
    await expect(page).toHaveURL("/seller/payments?status=failed");
    await expect(page.getByLabel("State")).toBeFocused();
    await expect(page.getByText("No payment matches")).toBeVisible();
    await page.goto("/seller");
    await expect(page.getByRole("heading", { name: "Revenue by day" })).toBeVisible();
    await expect(page.getByText("before seller fees")).toBeVisible();
    await page.getByText("Show as table").click();
    await expect(page.getByRole("row").filter({ hasText: "0.25 USDC" }).first()).toBeVisible();
    await expectAccessibleWhenNarrow(page);
  });

  test("an address is proved by its wallet, or by a pasted signature", async ({ page, context }) => {
    const owner = await newOrganization({ name: "Shop", productRoles: ["seller"] });
    const [one, two] = [privateKeyToAccount(generatePrivateKey()), privateKeyToAccount(generatePrivateKey())];
    const { sellerId } = await newSeller(owner.credential, { resourceId: "one", pathTemplate: "/one", payTo: one.address });
    const other = await newSeller(owner.credential, { resourceId: "two", pathTemplate: "/two", payTo: two.address });
    let shown: string = two.address;
    await injectWallet(page, async (method, params) => {
      if (method === "eth_requestAccounts") return { result: [shown] };
      if (method !== "personal_sign") return { code: 4200 };
      return { result: await one.signMessage({ message: { raw: params[0] as `0x${string}` } }) };
    });
    await signInAs(context, owner.credential);
    await page.goto("/seller/resources");
    await expect(page.getByText("Address not proven")).toHaveCount(2);
    await expectAccessibleWhenNarrow(page);

    await page.goto(`/seller/resources/${sellerId}/one`);
    const payee = page.getByRole("region", { name: "Address that is paid" });
    await expect(payee.getByText("Not proven", { exact: true })).toBeVisible();
    await expect(payee.getByRole("tab", { name: "By your domain" })).toHaveCount(0);
    await payee.getByRole("button", { name: "Sign with the wallet" }).click();
    await expect(payee.getByRole("alert")).toContainText(`Choose ${one.address} there`);
    await expectAccessibleWhenNarrow(page);
    shown = one.address;
    await payee.getByRole("button", { name: "Sign with the wallet" }).click();
    await expect(payee.getByText("Proven", { exact: true })).toBeVisible();
    await expectAccessible(page);

    await page.goto(`/seller/resources/${other.sellerId}/two`);
    await payee.getByRole("tab", { name: "Paste a signature" }).click();
    await payee.getByRole("button", { name: "Get the text to sign" }).click();
    const message = await payee.getByLabel("The text").locator("code").innerText();
    expect(message).toContain(two.address);
    await payee.getByRole("textbox", { name: "Signature" }).fill(await one.signMessage({ message }));
    await payee.getByRole("button", { name: "Check the signature" }).click();
    await expect(payee.getByRole("alert")).toContainText("This is no signature of");
    await expectAccessibleWhenNarrow(page);
    await payee.getByRole("textbox", { name: "Signature" }).fill(await two.signMessage({ message }));
    await payee.getByRole("button", { name: "Check the signature" }).click();
    await expect(payee.getByText("Proven", { exact: true })).toBeVisible();
    await page.goto("/seller/resources");
    await expect(page.getByText("Address not proven")).toHaveCount(0);
  });

  test("a resource is changed, archived and restored", async ({ page, context }) => {
    const owner = await newOrganization({ name: "Shop", productRoles: ["seller"] });
    const { sellerId } = await newSeller(owner.credential, { resourceId: "daily", pathTemplate: "/daily" });
    await signInAs(context, owner.credential);
    await page.goto("/seller/resources");
    await page.getByLabel("Search resources").fill("nothing like it");
    await page.keyboard.press("Enter");
    await expect(page.getByText("No resource matches")).toBeVisible();
    await expectAccessibleWhenNarrow(page);
    await page.getByRole("link", { name: "Show all resources" }).click();
    await page.getByRole("link", { name: /\/daily/ }).press("Enter");
    await page.getByLabel("Price").fill("0");
    await page.getByRole("button", { name: "Save resource" }).click();
    await expect(page.getByLabel("Price")).toHaveAccessibleDescription(/above zero/);
    await page.getByLabel("Price").fill("0.5");
    await page.getByRole("button", { name: "Save resource" }).click();
    await expect(page.getByText("Saved", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Archive this resource" })).toBeFocused();
    await expectAccessibleWhenNarrow(page);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Archive", exact: true })).toBeFocused();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Archive resource" }).click();
    await expect(page.getByText("Archived", { exact: true })).toBeVisible();
    await page.goto("/seller/resources?show=archived");
    await expect(page.getByRole("row").filter({ hasText: "/daily" }).getByText("0.50 USDC")).toBeVisible();
    await page.goto(`/seller/resources/${sellerId}/daily`);
    await page.getByRole("button", { name: "Restore" }).click();
    await expect(page.getByText("Live", { exact: true })).toBeVisible();
  });

  test("text that is typed while a resource is saved counts as not saved", async ({ page, context }) => {
    const owner = await newOrganization({ name: "Shop", productRoles: ["seller"] });
    const { sellerId } = await newSeller(owner.credential, { resourceId: "daily", pathTemplate: "/daily" });
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await signInAs(context, owner.credential);
    await page.goto(`/seller/resources/${sellerId}/daily`);
    const sent = Promise.withResolvers<void>();
    const typed = Promise.withResolvers<void>();
    await page.route("**/api/v1/seller/resources/daily", async (route) => {
      sent.resolve();
      await typed.promise;
      await route.continue();
    });
    await page.getByLabel("Price").fill("0.5");
    await page.getByRole("button", { name: "Save resource" }).click();
    await sent.promise;
    await page.getByLabel("Description").fill("Typed later");
    typed.resolve();
    await expect(page.getByText("Saved", { exact: true })).toBeVisible();
    await page.getByRole("link", { name: "Home", exact: true }).first().click();
    await expect.poll(() => asked).toEqual([expect.stringContaining("Leave without saving?")]);
    await expect(page.getByLabel("Description")).toHaveValue("Typed later");
    await page.getByRole("button", { name: "Save resource" }).click();
    await expect(page.getByRole("button", { name: "Save resource" })).toHaveAttribute("aria-busy", "false");
    await page.getByRole("link", { name: "Home", exact: true }).first().click();
    await expect(page).toHaveURL("/seller");
    expect(asked).toHaveLength(1);
  });

  test("a role sees only what it can read, and another organization's resource is not found", async ({ page, context }) => {
    const owner = await newOrganization({ name: "Shop", productRoles: ["seller"] });
    const { sellerId } = await newSeller(owner.credential, { resourceId: "daily" });
    const finance = await newMember(owner, "finance");
    await signInAs(context, finance.credential);
    await page.goto("/seller/fees");
    await expect(page.getByRole("heading", { name: "No fees" })).toBeVisible();
    await expectAccessibleWhenNarrow(page);
    await page.goto("/seller/resources");
    await expect(page.getByText("Your role does not show resources")).toBeVisible();
    const other = await newOrganization({ name: "Rival", productRoles: ["seller"] });
    await signInAs(context, other.credential);
    const reply = await page.goto(`/seller/resources/${sellerId}/daily`);
    expect(reply?.status()).toBe(404);
  });
});
