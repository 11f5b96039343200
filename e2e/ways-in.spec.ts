import type { Browser, Page } from "@playwright/test";
import { eq, sql } from "drizzle-orm";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { hexToString, type Hex } from "viem";
import { database } from "#lib/db/client.ts";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { session } from "#lib/identity/tables.ts";
import { newInvitation, newOrganization, newPerson, PASSWORD } from "#test/identity.ts";
import { cancel, invite } from "#test/members.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { injectWallet } from "./setup/wallet.ts";

const newAddress = () => `${crypto.randomUUID()}@example.com`;
const NEW_PASSWORD = "a password chosen anew";

/**
 * Reads the newest mail to `email` on the page /outbox, like a developer on this machine: with a browser that sends no
 * X-Forwarded-For header. Returns the target of the link in the mail.
 */
async function readOutbox(browser: Browser, email: string, looks = false): Promise<string> {
  const developer = await browser.newContext({ extraHTTPHeaders: {} });
  const page = await developer.newPage();
  await page.goto("/outbox");
  await page.getByLabel("To").fill(email);
  await page.getByRole("button", { name: "Show" }).click();
  const link = page.locator("article a").first();
  // The form reloads the page, so wait for the mail before the next check.
  await expect(link).toBeVisible();
  if (looks) await expectAccessible(page);
  const href = await link.getAttribute("href");
  await developer.close();
  return href ?? "";
}

async function signedInBy(page: Page): Promise<string> {
  const reply = await page.request.get("/api/v1/auth/session");
  const { session } = (await reply.json()) as { session?: { provider: string } };
  return session?.provider ?? `${reply.status()}`;
}

test.describe("ways to sign in", () => {
  test("a link by e-mail, read on the page with the sandbox's mails, signs in once", async ({ page, browser }) => {
    const email = newAddress();
    await page.goto("/sign-in");
    await page.getByLabel("E-mail").fill(email);
    await page.getByRole("button", { name: "E-mail me a link" }).click();
    await expect(page.getByRole("heading", { name: "Check your mailbox" })).toBeVisible();
    await expect(page.getByText(email)).toBeVisible();
    // A visitor from another network address does not see that the sandbox shows its mails.
    await expect(page.getByText("local outbox")).toHaveCount(0);
    expect((await page.request.get("/outbox")).status()).toBe(404);
    const link = await readOutbox(browser, email);
    await page.goto(link);
    expect(await signedInBy(page)).toBe("401");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
    expect(await signedInBy(page)).toBe("magicLink");
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("alert").filter({ hasText: "used already" })).toBeVisible();
    await expectAccessible(page);
  });

  test("a forgotten password is replaced by a link", async ({ page, browser }) => {
    const { email } = await newPerson();
    await page.goto("/sign-in");
    await page.getByRole("link", { name: "Forgot it?" }).click();
    await page.getByLabel("E-mail").fill(email);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Send the link" }).click();
    await expect(page.getByText("If there is an account, a link is on its way")).toBeVisible();
    await page.goto(await readOutbox(browser, email));
    await page.getByLabel("New password").fill(NEW_PASSWORD);
    await page.getByRole("button", { name: "Set the password" }).click();
    await expect(page.getByText("The password is set.")).toBeVisible();
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("alert").filter({ hasText: "not right" })).toBeVisible();
    await page.getByLabel("Password").fill(NEW_PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
    expect(await signedInBy(page)).toBe("emailPassword");
  });

  test("confirming an address requires a new password", async ({ page, browser }) => {
    const { email, credential } = await newPerson();
    await page.goto("/verify-email");
    await page.getByLabel("E-mail").fill(email);
    await page.getByRole("button", { name: "Send the mail" }).click();
    await expect(page.getByText("If there is an account, a link is on its way")).toBeVisible();
    await page.goto(await readOutbox(browser, email));
    await page.getByRole("button", { name: "Confirm the address" }).click();
    await expect(page.getByText("Now choose the password")).toBeVisible();
    await expectAccessible(page);
    const begun = await fetch(`${process.env["BASE_URL"]}/api/v1/auth/session`, { headers: credential });
    expect(begun.status).toBe(401);
    await page.getByLabel("New password").fill(NEW_PASSWORD);
    await page.getByRole("button", { name: "Set the password" }).click();
    await expect(page.getByText("The password is set.")).toBeVisible();
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(NEW_PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
    expect(await signedInBy(page)).toBe("emailPassword");
  });

  test("a wallet signs in only with its signature", async ({ page }) => {
    const account = privateKeyToAccount(generatePrivateKey());
    let declines = true;
    await injectWallet(page, async (method, [message]) => {
      if (method === "eth_requestAccounts") return { result: [account.address.toLowerCase()] };
      if (declines) return { code: 4001 };
      return { result: await account.signMessage({ message: hexToString(message as Hex) }) };
    });
    await page.goto("/sign-in");
    await page.getByRole("button", { name: "Use a wallet" }).click();
    await expect(page.getByText("You declined in the wallet.")).toBeVisible();
    expect(await signedInBy(page)).toBe("401");
    declines = false;
    await page.getByRole("button", { name: "Use a wallet" }).click();
    await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
    expect(await signedInBy(page)).toBe("wallet");
  });
});

test.describe("an invitation", () => {
  test("leads a new person from the mail into the organization", async ({ page, browser }) => {
    const owner = await newOrganization({ name: "Harbor Books" });
    const email = newAddress();
    await invite(owner, { email, role: "approver" });
    await page.goto(await readOutbox(browser, email, true));
    await expect(page.getByText("Harbor Books")).toBeVisible();
    await page.getByRole("link", { name: "Create an account" }).click();
    await expect(page.getByLabel("E-mail")).toHaveValue(email);
    await page.getByLabel("Name").fill("Mira Okafor");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await expect(page.getByText("As Approver")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Accept and join" }).click();
    await expect(page).toHaveURL("/home");
    await page.goBack();
    await expect(page.getByRole("heading", { name: "You are a member already" })).toBeVisible();
  });

  test("for another account names that account and offers to switch", async ({ page, context }) => {
    const owner = await newOrganization({ name: "Harbor Books" });
    const [guest, other] = [await newPerson(), await newPerson()];
    const token = await newInvitation(owner, guest.email, "viewer");
    await signInAs(context, other.credential);
    await page.goto(`/invitations/${token}`);
    await expect(page.getByRole("heading", { name: "This is for another account" })).toBeVisible();
    for (const email of [guest.email, other.email]) await expect(page.getByText(email)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Switch account" }).click();
    await expect(page.getByLabel("E-mail")).toHaveValue(guest.email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Accept and join" }).click();
    await expect(page).toHaveURL("/home");
  });

  test("that has expired, was canceled or is unknown cannot be accepted", async ({ page, context }) => {
    const owner = await newOrganization();
    const guest = await newPerson();
    await signInAs(context, guest.credential);
    const token = await newInvitation(owner, guest.email, "viewer", -1_000);
    await page.goto(`/invitations/${token}`);
    await expect(page.getByRole("heading", { name: "This invitation has ended" })).toBeVisible();
    await expectAccessible(page);
    const { invitationId } = (await invite(owner, { email: guest.email })).data;
    await cancel(owner, invitationId);
    await page.goto(`/invitations/${invitationTokenOf(invitationId)}`);
    await expect(page.getByRole("heading", { name: "This invitation was withdrawn" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Accept and join" })).toHaveCount(0);
    expect((await page.goto(`/invitations/${token.slice(0, -4)}AAAA`))?.status()).toBe(404);
  });
});

test("a session that is used only on pages is renewed together with its cookie", async ({ page, context }) => {
  const owner = await newOrganization();
  await signInAs(context, owner.credential);
  await database()
    .update(session)
    .set({ expiresAt: sql`clock_timestamp() + interval '10 hours'` })
    .where(eq(session.userId, owner.userId));
  const renewed = page.waitForResponse((response) => response.url().endsWith("/api/v1/auth/session"));
  await page.goto("/home");
  expect(await (await renewed).headerValue("set-cookie")).toContain("Max-Age=43200");
  const [row] = await database().select().from(session).where(eq(session.userId, owner.userId));
  expect(row!.expiresAt.getTime() - row!.createdAt.getTime()).toBeGreaterThan(11.9 * 3_600_000);
  const cookie = (await context.cookies()).find(({ name }) => name.endsWith(".session_token"));
  expect(cookie!.expires * 1_000 - row!.createdAt.getTime()).toBeGreaterThan(11.9 * 3_600_000);
});
