import type { Locator, Page } from "@playwright/test";
import { PASSWORD, newMember, newOrganization } from "#test/identity.ts";
import { authorize, buy, intentFor, type AgentOptions } from "../examples/without-package.ts";
import { linkTo, mailsTo } from "#test/mail.ts";
import { expect, expectAccessible, listensTo, signInAs, test } from "./setup/journey.ts";
import { askAPerson, newPurchase, writeMandate } from "./setup/purchase.ts";
import { fundedWallet, openStall, type Stall } from "./setup/stall.ts";

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });

/** Makes the page take itself for an installed app. Returns a function that reads the number that is on the app's icon. */
async function installedBadge(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const matches = window.matchMedia.bind(window);
    window.matchMedia = (query) => matches(query === "(display-mode: standalone)" ? "all" : query);
    navigator.setAppBadge = (count) => {
      sessionStorage.setItem("badge", String(count));
      return Promise.resolve();
    };
  });
  return () => page.evaluate(() => Number(sessionStorage.getItem("badge") ?? Number.NaN));
}

/** Moves the focus to the target with the Tab key only, pressed at most 80 times. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("The Tab key does not come to it.");
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.type(text);
}

async function signUp(page: Page): Promise<void> {
  await page.goto("/sign-up");
  await page.getByLabel("Name").fill("Mira Okafor");
  await page.getByLabel("E-mail").fill(`${crypto.randomUUID()}@example.com`);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(heading(page, "Set up your organization")).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("Okafor Field Data");
  await page.getByRole("button", { name: "Create organization" }).click();
}

/** Creates an API key in the browser and returns the key, which the page shows only once. */
async function makeKey(page: Page): Promise<string> {
  await page.goto("/settings/keys");
  await page.getByRole("button", { name: "New service account" }).click();
  await page.getByLabel("Name").fill("Field data agent");
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: /Save the key/ });
  const key =
    (await dialog
      .getByText(/^csk_sandbox_/)
      .first()
      .textContent()) ?? "";
  await dialog.getByLabel("I saved it in a safe place").check();
  await dialog.getByRole("button", { name: "Done" }).click();
  return key;
}

/** Saves the draft of a mandate with the keyboard alone: 0.5 USDC per payment, 2 a day, approval above 0.4. Returns its id. */
async function writeByKeyboard(page: Page): Promise<string> {
  await page.goto("/mandates/new");
  await expect(page.getByRole("button", { name: "Save draft" })).toBeEnabled();
  await type(page, "Name", "Weather data");
  await type(page, "Per payment", "0.5");
  await type(page, "A day", "2");
  await type(page, "Ask me above", "0.4");
  await expect(page.getByText("Agents may spend up to 2.00 USDC a day, at most 0.50 USDC in one payment.")).toBeVisible();
  await expect(page.getByText("Ask me above 0.40 USDC.")).toBeVisible();
  await tabTo(page, page.getByLabel("Only at these domains"));
  await tabTo(page, page.getByRole("button", { name: "Save draft" }));
  await page.keyboard.press("Enter");
  await expect(heading(page, "Weather data")).toBeVisible();
  return new URL(page.url()).pathname.split("/").at(-1) ?? "";
}

test.describe("a buyer", () => {
  let stall: Stall;
  test.beforeAll(async () => {
    stall = await openStall();
  });
  test.afterAll(() => stall.close());

  test("signs up, makes a key, writes a mandate by keyboard, sees the first paid call, and suspends, resumes and revokes", async ({
    page,
    baseURL,
  }) => {
    await signUp(page);
    await expect(page).toHaveURL("/get-started");
    await page.goto("/home");
    await expect(page.getByRole("heading", { name: /No agent can pay yet/ })).toBeVisible();
    await expectAccessible(page);
    const apiKey = await makeKey(page);
    const mandateId = await writeByKeyboard(page);
    await expect(page.getByText("This is a draft.")).toBeVisible();
    await page.getByRole("button", { name: "Activate" }).click();
    await expect(page.getByText("Active", { exact: true })).toBeVisible();

    const wallet = await fundedWallet(5_000_000n);
    const agent: AgentOptions = { serviceUrl: baseURL ?? "", apiKey, mandateId, wallet };
    const bought = await buy(agent, stall.purchase);
    expect(bought.outcome === "paid" && bought.response.status).toBe(200);
    const recent = page.getByRole("region", { name: "Recent payments" });
    await expect(async () => {
      await page.goto("/home");
      await expect(recent.getByText("Settled")).toBeVisible({ timeout: 1_000 });
    }).toPass();
    await expect(recent.getByText("0.25 USDC")).toBeVisible();
    await expect(page.getByText("Spent today").locator("..")).toContainText("0.25 USDC");
    await expect(page.getByRole("region", { name: "Mandates" })).toContainText("1.75 USDC left");
    await expectAccessible(page);

    await page.getByRole("region", { name: "Mandates" }).getByRole("link", { name: "Weather data" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByLabel("Reason (optional)").fill("The agent is being updated.");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Pause mandate" }).click();
    await expect(page.getByText("Paused", { exact: true }).first()).toBeVisible();
    const refused = await authorize(agent, intentFor(stall.purchase));
    expect(refused.authorization.policyDecision.denialCode).toBe("mandate_suspended");
    await page.getByRole("button", { name: "Resume" }).click();
    await expect(page.getByText("Active", { exact: true })).toBeVisible();
    await expectAccessible(page);

    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByLabel("Reason").fill("The project is over.");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Revoke mandate" }).click();
    await expect(page.getByText("The project is over.")).toBeVisible();
    await expect(page.getByRole("button", { name: "Resume" })).toHaveCount(0);
    const denied = await authorize(agent, intentFor(stall.purchase));
    expect(denied.authorization.policyDecision.denialCode).toBe("mandate_revoked");
  });
});

test.describe("the editor", () => {
  test("shows each error at its field, opens its section, and sends nothing", async ({ page, context }) => {
    const buyer = await newOrganization();
    await signInAs(context, buyer.credential);
    await page.goto("/mandates/new");
    await page.getByLabel("Name", { exact: true }).fill("Wrong");
    await page.getByLabel("Per payment").fill("9");
    await page.getByLabel("A day", { exact: true }).fill("5");
    await page.getByLabel("A month").fill("4");
    await page.getByLabel("Ask me above").fill("1");
    await page.getByText("The wallet that pays").click();
    await page.getByLabel("Wallet address (optional)").fill("0x12");
    await page.getByText("The wallet that pays").click();
    await page.getByRole("button", { name: "Save draft" }).click();
    await expect(page.getByLabel("Wallet address (optional)")).toHaveAccessibleDescription(/40 hexadecimal/);
    await page.getByLabel("Wallet address (optional)").fill("");
    await page.getByRole("button", { name: "Save draft" }).click();
    await expect(page.getByLabel("A day", { exact: true })).toHaveAccessibleDescription(/larger than that of a longer window/);
    await expectAccessible(page);
    await expect(page).toHaveURL("/mandates/new");
  });

  test("tries a change on the last decisions, and saves it as a new version", async ({ page, context }) => {
    const purchase = await newPurchase();
    await askAPerson(purchase);
    await signInAs(context, purchase.buyer.credential);
    await page.goto(`/mandates/${purchase.mandateId}/edit`);
    await page.getByLabel("Per payment").fill("30");
    await page.getByRole("button", { name: "Try it" }).click();
    const trial = page.getByRole("region", { name: "Trial on recent decisions" });
    await expect(trial.getByText("Would deny").locator("..")).toContainText("1");
    await expect(trial.getByText(purchase.seller.domain)).toBeVisible();
    await expect(trial.getByText("Needs approval")).toBeVisible();
    await expect(trial.getByText("Denied")).toBeVisible();
    await expectAccessible(page);
    for (const summary of ["More limits", "Sellers, addresses, resources and fees in detail", "Beginning and end"])
      await page.getByText(summary).click();
    await page.getByLabel("Only at these domains").check();
    await page.getByLabel("Add a domain").fill("https://Weather.example/v1");
    await page.getByLabel("Add a domain").press("Enter");
    await expect(page.getByText("Only at weather.example.")).toBeVisible();
    await page.getByRole("button", { name: "Add a limit" }).click();
    await page.getByLabel("Amount", { exact: true }).fill("200");
    await page.setViewportSize({ width: 320, height: 800 });
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save as version 2" }).click();
    // The payment that waits for approval is at a domain that version 2 does not allow.
    const asked = page.getByRole("dialog", { name: "Version 2 no longer allows 1 open payment" });
    await expect(asked).toContainText(purchase.seller.domain);
    await expect(asked).toContainText("is not among the domains that the policy allows");
    await expectAccessible(page);
    await asked.getByRole("button", { name: "Cancel payments that are not submitted" }).click();
    await expect(page.getByText("Version 2 is in force")).toBeVisible();
    await expect(page.getByText("Changed to version 2")).toBeVisible();
    await expectAccessible(page);
  });
});

test.describe("the lists", () => {
  test("the inbox shows requests and decisions, and updates while it is open", async ({ page, context }) => {
    const purchase = await newPurchase();
    await signInAs(context, purchase.buyer.credential);
    await page.goto("/approvals");
    await expect(page.getByText("Nothing to approve")).toBeVisible();
    await expectAccessible(page);
    await askAPerson(purchase);
    const waiting = page.getByRole("region", { name: "Waiting for you" });
    await expect(waiting.getByRole("link", { name: `Review 43.00 USDC to ${purchase.seller.domain}` })).toBeVisible({
      timeout: 20_000,
    });
    await expect(waiting).toContainText("Lab supplies asks above 25.00 USDC");
    await expect(page.getByRole("link", { name: "Approvals 1 waiting" })).toBeVisible({ timeout: 20_000 });
    await expectAccessible(page);
    await waiting.getByRole("link", { name: /^Review/ }).click();
    await page.getByRole("button", { name: "Decline" }).click();
    await expect(page.getByRole("heading", { level: 1, name: /Declined/ })).toBeVisible();
    await page.goto("/approvals");
    await expect(page.getByRole("row", { name: new RegExp(`${purchase.seller.domain}.*Declined.*Ada`) })).toBeVisible();
    await page.setViewportSize({ width: 320, height: 800 });
    await expectAccessible(page);
  });

  test("the link in a mail about a request leads through the sign-in to the inbox, and approves nothing", async ({ page }) => {
    const purchase = await newPurchase();
    const { email } = purchase.buyer;
    const checkout = await askAPerson(purchase);
    const badge = await installedBadge(page);
    await expect.poll(async () => (await mailsTo(email))[0]?.subject).toBe("43.00 USDC waits for your approval");
    await page.goto((await linkTo(email)).path);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page).toHaveURL("/approvals");
    await expect(page).toHaveTitle("(1) Approvals · Countersign");
    await expect.poll(badge).toBe(1);
    await expect(page.getByText("Nobody gets a mail: this sandbox has no mail server.")).toBeVisible();
    await page.getByRole("link", { name: `Review 43.00 USDC to ${purchase.seller.domain}` }).click();
    await expect(page).toHaveURL(checkout);
    await page.getByRole("button", { name: "Decline" }).click();
    await expect(heading(page, /Declined/)).toBeVisible();
    await page.goto("/settings/security");
    await expect(page).toHaveTitle("Security · Countersign");
    await expect.poll(badge).toBe(0);
    await page.getByRole("checkbox", { name: "Mail about requests" }).uncheck();
    await page.getByRole("region", { name: "Requests that wait" }).getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("You get no mail about requests")).toBeVisible();
    await page.reload();
    await expect(page.getByRole("checkbox", { name: "Mail about requests" })).not.toBeChecked();
  });

  test("mandates are found by state and name, and those of other organizations are not", async ({ page, context }) => {
    const buyer = await newOrganization();
    const other = await newOrganization();
    await writeMandate(buyer, "Lab supplies");
    await writeMandate(buyer, "Field equipment");
    const foreign = await writeMandate(other, "Of others");
    await signInAs(context, buyer.credential);
    await page.goto("/mandates");
    await expect(page.getByRole("row", { name: /Field equipment.*Active.*250.00 USDC left/ })).toBeVisible();
    await expectAccessible(page);
    await listensTo(page, "/");
    await page.keyboard.press("/");
    await page.keyboard.type("lab");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL("/mandates?q=lab");
    await expect(page.getByRole("row", { name: /Field equipment/ })).toHaveCount(0);
    await page.getByLabel("State").selectOption("Revoked");
    await expect(page.getByText("No mandate matches")).toBeVisible();
    await page.setViewportSize({ width: 320, height: 800 });
    await expectAccessible(page);
    for (const path of [`/mandates/${foreign}`, `/mandates/${foreign}/edit`, "/mandates?cursor=nonsense"])
      expect((await page.goto(path))?.status()).toBe(404);
  });

  test("a member sees only the mandates and the actions that their role allows", async ({ page, context }) => {
    const owner = await newOrganization();
    const mandateId = await writeMandate(owner, "Lab supplies");
    const viewer = await newMember(owner, "viewer");
    await signInAs(context, viewer.credential);
    await page.goto(`/mandates/${mandateId}`);
    await expect(heading(page, "Lab supplies")).toBeVisible();
    for (const name of ["Pause", "Revoke"]) await expect(page.getByRole("button", { name })).toHaveCount(0);
    await expect(page.getByRole("link", { name: "Edit" })).toHaveCount(0);
    await page.goto(`/mandates/${mandateId}/edit`);
    await expect(page.getByText("Your role does not show the form of a mandate")).toBeVisible();
    const finance = await newMember(owner, "finance");
    await context.clearCookies();
    await signInAs(context, finance.credential);
    await page.goto("/mandates");
    await expect(page.getByText("Your role does not show mandates")).toBeVisible();
    await page.goto("/home");
    await expect(heading(page, "Home")).toBeVisible();
    await expectAccessible(page);
  });
});
