import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { call } from "#lib/http/client.ts";
import { session } from "#lib/identity/tables.ts";
import { getMandate } from "#lib/mandates/contract.ts";
import { PASSWORD } from "#test/identity.ts";
import { authorization, newId, request, SECRET, transaction } from "#test/stripe-events.ts";
import { activate } from "./setup/activate.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { newPurchase } from "./setup/purchase.ts";
import { fromStripe, newCard } from "./setup/stripe.ts";

const at = (headers: Readonly<Record<string, string>>) => ({ baseUrl: process.env["BASE_URL"] ?? "", headers });

test("connect Stripe, write a mandate for cards, give it a card, and see what the card paid", async ({ page, context }) => {
  const { buyer } = await newPurchase();
  await signInAs(context, buyer.credential);
  await page.goto("/settings/cards");
  await expect(page.getByRole("heading", { name: "No Stripe account is connected" })).toBeVisible();
  await page.getByRole("button", { name: "Connect Stripe" }).click();
  const connecting = page.getByRole("dialog", { name: "Connect a Stripe account" });
  await connecting.getByLabel("Name", { exact: true }).fill("Our Stripe account");
  await connecting.getByLabel("Signing secret").fill("sk_live_1");
  await connecting.getByRole("button", { name: "Connect" }).click();
  await expect(
    connecting.getByText("Copy the signing secret of the endpoint at Stripe, which begins with whsec_."),
  ).toBeVisible();
  await expectAccessible(page);
  await connecting.getByLabel("Signing secret").fill(SECRET);
  await connecting.getByRole("button", { name: "Connect" }).click();
  const connection = page.getByRole("region", { name: "Our Stripe account" });
  await expect(connection).toContainText("issuing_authorization.request");
  await expect(connection.getByRole("button", { name: "Add a card" })).toBeHidden();
  const [, connectionId = ""] = /rails\/stripe\/(ccn_[0-9a-z]{26})/.exec((await connection.textContent()) ?? "") ?? [];

  await page.getByRole("link", { name: "Write a mandate" }).click();
  await expect(page.getByRole("button", { name: "Save draft" })).toBeEnabled();
  await page.getByLabel("Name", { exact: true }).fill("Cloud bills");
  await page.getByLabel("Limits are in").selectOption("USD");
  await page.getByLabel("1 USDC counts as").fill("1");
  await page.getByRole("checkbox", { name: /^Payments by card/ }).check();
  await expect(page.getByLabel("1 USD counts as")).toHaveValue("1");
  await page.getByRole("radio", { name: /^Only merchants that I name/ }).check();
  await page.getByLabel("Per payment").fill("400");
  await page.getByLabel("In all").fill("500");
  await page.getByRole("radio", { name: /^Never/ }).check();
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByText("Fill this in.")).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel("Countries", { exact: true }).fill("us,");
  await page.getByLabel("Categories", { exact: true }).fill("Computer software stores");
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Cloud bills" })).toBeVisible();
  await expect(page.getByRole("region", { name: "In plain words" })).toContainText(
    "Cards pay at merchants of the categories computer software stores and in US. A person clears other purchases.",
  );
  const mandateId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await activate(mandateId, at(buyer.credential));
  await page.goto(`/mandates/${mandateId}/edit`);
  await page.getByLabel("In all").fill("450");
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await page.waitForURL(`**/mandates/${mandateId}`);
  expect((await call(getMandate, { id: mandateId }, at(buyer.credential))).policy).toMatchObject({
    rails: ["x402", "card"],
    cards: { categories: ["computer_software_stores"], countries: ["US"] },
    limits: { total: "450" },
  });

  await page.goto("/settings/cards");
  const it = { cardId: newId("ic"), iauth: newId("iauth") };
  await connection.getByRole("button", { name: "Add a card" }).click();
  const adding = page.getByRole("dialog", { name: "Add a card" });
  await adding.getByLabel("Card at Stripe").fill(it.cardId);
  await adding.getByLabel("Name", { exact: true }).fill("Build servers");
  await adding.getByLabel("Mandate").selectOption("Cloud bills");
  await expectAccessible(page);
  await adding.getByRole("button", { name: "Add card" }).click();
  await expect(connection.getByRole("rowheader", { name: /Build servers/ })).toBeVisible();
  await expectAccessible(page);

  const { approved, authorizationId } = await fromStripe(connectionId, "issuing_authorization.request", request(it, 12_000));
  expect(approved).toBe(true);
  await fromStripe(connectionId, "issuing_authorization.created", authorization(it, { amount: 12_000 }));
  await fromStripe(connectionId, "issuing_transaction.created", transaction(it, 7_500));
  await page.goto("/payments");
  const line = page.getByRole("row").filter({ hasText: "Ink and Co" });
  await expect(line).toContainText("By card");
  await line.getByRole("link", { name: /Ink and Co/ }).click();
  await expect(page).toHaveURL(new RegExp(`/payments/${authorizationId}$`));
  const card = page.getByRole("region", { name: "By card" });
  await expect(card).toContainText("Build servers");
  await expect(card).toContainText("Approved, 120.00 USD");
  await expect(card).toContainText("Still held45.00 USD");
  await expect(card.getByRole("listitem")).toHaveText(/^Captured.*75.00 USD$/);
  await expectAccessible(page);
  await page.goto(`/mandates/${mandateId}`);
  await expect(page.getByRole("region", { name: "Used" })).toContainText("By card75.00 USD45.00 USD held");
  await page.goto("/spending");
  await expect(page.getByRole("region", { name: "Spending by mandate" }).first()).toContainText("75.00 USD");
});

test("a declined purchase is cleared, and the question about one that exceeded its hold is ended", async ({ page, context }) => {
  const { buyer, agent } = await newPurchase();
  const { connectionId, cardId } = await newCard(buyer, agent, "Cloud bills");
  await signInAs(context, buyer.credential);
  const it = { cardId, iauth: newId("iauth") };
  const abroad = { merchant_data: { category: "hotels", country: "AT", name: "Inn", network_id: "12" } };
  const asked = await fromStripe(connectionId, "issuing_authorization.request", request(it, 2_000, 0, abroad));
  expect(asked.approved).toBe(false);
  await page.goto(`/payments/${asked.authorizationId}`);
  await expect(page.getByRole("region", { name: "What you can do" })).toContainText("Stripe was told no.");
  await expect(page.getByRole("region", { name: "By card" })).toContainText("Nothing since it was told no.");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear this purchase" }).click();
  await expect(page.getByText("allowed this payment once.")).toBeVisible();
  const again = { ...it, iauth: newId("iauth") };
  const cleared = await fromStripe(connectionId, "issuing_authorization.request", request(again, 2_100, 0, abroad));
  expect(cleared.approved).toBe(true);
  await fromStripe(connectionId, "issuing_transaction.created", transaction(again, 2_500));

  await page.goto(`/payments/${cleared.authorizationId}`);
  const card = page.getByRole("region", { name: "By card" });
  await expect(card).toContainText("More was captured than was held.");
  await expectAccessible(page);
  await card.getByRole("button", { name: "I have seen it" }).click();
  await page.getByRole("dialog", { name: "End this question" }).getByRole("button", { name: "End question" }).click();
  await expect(card.getByText("More was captured than was held.")).toBeHidden();
});

test("change and remove a card, replace the secret, and end a connection, with a proof where a right is given", async ({
  page,
  context,
}) => {
  const { buyer, agent } = await newPurchase();
  const { connectionId, cardId } = await newCard(buyer, agent, "Cloud bills");
  await signInAs(context, buyer.credential);
  await database()
    .update(session)
    .set({ provedAt: new Date(Date.now() - 16 * 60_000) })
    .where(eq(session.userId, buyer.userId));
  await page.goto("/settings/cards");
  const connection = page.getByRole("region", { name: "Cloud bills" });
  await connection.getByRole("button", { name: "Change Cloud bills" }).click();
  const changing = page.getByRole("dialog", { name: "Change this card" });
  await changing.getByLabel("Name", { exact: true }).fill("Build servers");
  await changing.getByRole("button", { name: "Save" }).click();
  const proof = page.getByRole("dialog", { name: "Confirm that it is you" });
  await proof.getByLabel("Your password").fill(PASSWORD);
  await proof.getByRole("button", { name: "Confirm" }).click();
  await expect(connection.getByRole("rowheader", { name: /Build servers/ })).toBeVisible();

  await connection.getByRole("button", { name: "Replace secret" }).click();
  const replacing = page.getByRole("dialog", { name: "Replace the signing secret" });
  await replacing.getByLabel("New signing secret").fill(`${SECRET}new`);
  await expectAccessible(page);
  await replacing.getByRole("button", { name: "Replace secret" }).click();
  await connection.getByRole("button", { name: "End old secret" }).click();
  const ending = page.getByRole("dialog", { name: "End the old secret" });
  await ending.getByRole("button", { name: "End old secret" }).click();
  await expect(ending).toBeHidden();
  await expect(connection.getByRole("button", { name: "End old secret" })).toBeHidden();
  const it = { cardId, iauth: newId("iauth") };
  await expect(fromStripe(connectionId, "issuing_authorization.request", request(it, 100))).rejects.toThrow("forbidden");

  await connection.getByRole("button", { name: "Remove Build servers" }).click();
  await page.getByRole("dialog", { name: "Remove this card" }).getByRole("button", { name: "Remove card" }).click();
  await expect(connection.getByRole("heading", { name: "No cards yet" })).toBeVisible();
  await connection.getByRole("button", { name: /^End the connection/ }).click();
  await page.getByRole("dialog", { name: "End this connection" }).getByRole("button", { name: "End connection" }).click();
  await expect(page.getByRole("heading", { name: "No Stripe account is connected" })).toBeVisible();
  await expectAccessible(page);
});
