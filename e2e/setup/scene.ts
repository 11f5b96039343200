import { eq, inArray, sql } from "drizzle-orm";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { cardConnections, cards } from "#lib/cards/tables.ts";
import { database } from "#lib/db/client.ts";
import { sampleFor } from "#lib/pages/docs/quickstart.ts";
import { sampleBody } from "#lib/pages/docs/sample.ts";
import { call } from "#lib/http/client.ts";
import { member, organization, serviceAccounts, user } from "#lib/identity/tables.ts";
import { sendMails } from "#lib/mail/send-mails.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { newId } from "#lib/ids.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { authorizePayment } from "#lib/payments/contract.ts";
import { recordPayment } from "#lib/payments/executions/record-contract.ts";
import { registerSeller, upsertPaidResource } from "#lib/sellers/contract.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { callAuth, newInvitation, newMember, newOrganization, type Agent, type Owner } from "#test/identity.ts";
import { webhookDeliveries, webhookEndpoints } from "#lib/webhooks/tables.ts";
import { authorization, newId as stripeId, request, transaction } from "#test/stripe-events.ts";
import { localChainId } from "../../examples/chain.ts";
import { activate } from "./activate.ts";
import { askAPerson, newPurchase } from "./purchase.ts";
import { fromStripe, newCard } from "./stripe.ts";

/* The data for the test of all pages: an organization with data, and one without. */

/** More than one page of a list shows. */
const PAYMENTS = 24;

const as = ({ credential }: Pick<Owner, "credential">) => ({ baseUrl: process.env["BASE_URL"] ?? "", headers: credential });

async function paySmallAmounts(owner: Owner): Promise<{ readonly mandateId: string; readonly authorizationId: string }> {
  const sample = sampleFor(assetOf(localChainId, "USDC")!);
  const policy = sample.policy as Parameters<typeof call<typeof createMandate>>[1]["body"]["policy"];
  // The mandate has a wallet, so its page offers the registration on the chain.
  const wallet = { chain: localChainId, address: "0x7a3f19bc24e05d8816a2fb93d07c5e41b92ac41d" };
  const { mandateId } = await call(createMandate, { body: { name: "Weather and maps data", policy, wallet } }, as(owner));
  await call(activateMandate, { id: mandateId }, as(owner));
  const ids: string[] = [];
  for (let turn = 0; turn < PAYMENTS; turn += 1) {
    const fresh = { name: `sweep-${turn}`, expiresAt: new Date(Date.now() + 600_000) };
    const body = sampleBody(mandateId, sample, fresh) as Parameters<typeof call<typeof authorizePayment>>[1]["body"];
    ids.push((await call(authorizePayment, { body }, as(owner))).authorizationId);
  }
  return { mandateId, authorizationId: ids[0] ?? "" };
}

/** A payment made elsewhere about which a person is asked, since more was paid than was held, and one that waits for an approval. */
async function payElsewhere(owner: Owner) {
  const usd = { asset: "USD", chain: "iso4217:USD" };
  const eur = { asset: "EUR", chain: "iso4217:EUR" };
  const iban = { kind: "iban" as const, value: "DE89 3704 0044 0532 0130 00" };
  const policy = {
    unit: "USD" as const,
    assets: [
      { ...usd, counts: "1" },
      { ...eur, counts: "1.12" },
      { asset: "USDC", chain: localChainId, counts: "1" },
    ],
    rails: ["x402" as const, "record" as const],
    records: { payees: [iban], deadline: "P30D" },
    limits: { perPayment: "500", total: "2000" },
  };
  const { mandateId } = await call(createMandate, { body: { name: "Invoices", policy } }, as(owner));
  await activate(mandateId, as(owner));
  const ask = async (name: string, coin: typeof usd, payee: typeof iban) => {
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const asked = { paymentChallengeType: "record" as const, seller: { name }, payee, reference: name, amount: "300", ...coin };
    const intent = { ...asked, idempotencyKey: coin.asset, expiresAt };
    return (await call(authorizePayment, { body: { mandateId, intent } }, as(owner))).authorizationId;
  };
  const authorizationId = await ask(hostileNames.unbroken, usd, iban);
  const part = { idempotencyKey: "part", outcome: "partlyPaid" as const, amount: "320", asset: "USD" };
  await call(recordPayment, { authorizationId, body: part }, as(owner));
  const waiting = await ask(hostileNames.arabic, eur, { ...iban, value: "AT61 1904 3002 3457 3201" });
  const [row] = await database().select().from(checkoutIntents).where(eq(checkoutIntents.authorizationId, waiting));
  return { mandateId, authorizationId, checkout: `/checkout/${row?.checkoutIntentId}` };
}

/** A payment by card about which a person is asked, and a declined one. */
async function payByCard(owner: Owner, agent: Agent) {
  const { connectionId, cardId, mandateId } = await newCard(owner, agent, "Cloud bills");
  const ask = async (amount: number) => {
    const it = { cardId, iauth: stripeId("iauth") };
    const { authorizationId } = await fromStripe(connectionId, "issuing_authorization.request", request(it, amount));
    return { it, authorizationId };
  };
  const { it, authorizationId } = await ask(3_000);
  await fromStripe(connectionId, "issuing_authorization.created", authorization(it, { amount: 3_000 }));
  await fromStripe(connectionId, "issuing_transaction.created", transaction(it, 2_000));
  await fromStripe(connectionId, "issuing_transaction.created", transaction(it, 2_000));
  await fromStripe(connectionId, "issuing_transaction.created", transaction(it, -500, { type: "refund" }));
  const declined = await ask(90_000);
  return { mandateId, authorizationId, declined: declined.authorizationId };
}

async function sellSomething(owner: Owner): Promise<string> {
  const { sellerId } = await call(
    registerSeller,
    { body: { name: "Larkfield Data", domain: "data.larkfield.example" } },
    as(owner),
  );
  await call(
    upsertPaidResource,
    {
      id: "daily-report",
      body: {
        sellerId,
        method: "GET",
        pathTemplate: "/reports/{day}",
        description: "The daily report of everything that happened, with figures",
        pricing: { type: "fixed", amount: "0.25", asset: "USDC" },
        acceptedPaymentChallengeTypes: ["x402"],
        paymentConfig: { chain: localChainId, payTo: "0x7a3f19bc24e05d8816a2fb93d07c5e41b92ac41d" },
      },
    },
    as(owner),
  );
  return sellerId;
}

/** A webhook endpoint that the service disabled, so that nothing is sent, with a delivery of each status. */
async function failWebhooks({ organizationId }: Owner): Promise<string> {
  const id = newId("webhookEndpoint");
  const url = "https://hooks.larkfield.example/a-rather-long-path-of-a-receiver/countersign";
  const reason = {
    status: "disabled",
    disabledReason: "No message was delivered in five days.",
    failingSince: new Date(),
  } as const;
  const keys = { publicKey: "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", sealed: "1." };
  await database()
    .insert(webhookEndpoints)
    .values({
      webhookEndpointId: id,
      organizationId,
      url,
      eventTypes: ["payment.*", "mandate.*"],
      ...reason,
      ...keys,
      sequence: 3,
    });
  const error = "It answered 500.";
  const answers = [
    { status: "delivered", responseStatus: 200, responseBody: "ok" },
    { status: "failed", responseStatus: 500, error, responseBody: "Internal error" },
    { status: "pending", error: "It did not answer in time.", nextAttemptAt: new Date() },
  ] as const;
  await database()
    .insert(webhookDeliveries)
    .values(
      answers.map((answer, at) => ({
        webhookDeliveryId: newId("webhookDelivery"),
        webhookEndpointId: id,
        organizationId,
        eventId: `aud_${at}`,
        type: "payment.authorized",
        sequence: at + 1,
        attempts: at + 1,
        ...answer,
      })),
    );
  const [first] = await database()
    .select({ id: webhookDeliveries.webhookDeliveryId })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.webhookEndpointId, id))
    .orderBy(webhookDeliveries.webhookDeliveryId);
  return `/settings/webhooks/${id}?delivery=${first?.id}`;
}

/** Names of about 80 characters: without a place to break, from right to left, and in full-width characters. */
export const hostileNames = {
  unbroken: "Wissenschaftlicheforschungsgesellschaftfuernachhaltigedatenverarbeitungundwetter",
  arabic: "وكالة الشراء الآلية لبيانات الطقس والخرائط في جميع المدن الساحلية والجبلية معا",
  japanese: "研究室のすべての消耗品と事務用品を購入する、とても長い名前を持つエージェントです。".repeat(2).slice(0, 80),
} as const;

/**
 * Gives hostile names to the organization and to its people, agents, mandates and sellers, and to the payee, which also gets a
 * long domain.
 */
async function renameAll({ organizationId, userId }: Owner, payee: string): Promise<void> {
  const { unbroken, arabic, japanese } = hostileNames;
  const [db, own] = [database(), eq(member.organizationId, organizationId)];
  await db.update(organization).set({ name: unbroken }).where(eq(organization.id, organizationId));
  const colleagues = db.select({ id: member.userId }).from(member).where(own);
  await db.update(user).set({ name: arabic }).where(inArray(user.id, colleagues));
  await db.update(user).set({ name: unbroken }).where(eq(user.id, userId));
  await db.update(serviceAccounts).set({ name: arabic }).where(eq(serviceAccounts.organizationId, organizationId));
  await db.update(mandates).set({ name: japanese }).where(eq(mandates.organizationId, organizationId));
  await db.update(cardConnections).set({ name: unbroken }).where(eq(cardConnections.organizationId, organizationId));
  await db.update(cards).set({ name: arabic }).where(eq(cards.organizationId, organizationId));
  await db.update(sellers).set({ name: arabic }).where(eq(sellers.organizationId, organizationId));
  const domain = sql`'stations-of-the-north-and-of-the-south.the-marketplace-for-everything-' || ${sellers.domain}`;
  await db.update(sellers).set({ name: japanese, domain }).where(eq(sellers.sellerId, payee));
}

export type Scene = Awaited<ReturnType<typeof newScene>>;

/**
 * The data for all pages. The owner of the full organization is also a platform admin, so that one session can open every page.
 */
export async function newScene() {
  const purchase = await newPurchase();
  const { buyer, agent } = purchase;
  const checkout = await askAPerson(purchase);
  await database()
    .update(organization)
    .set({ productRoles: ["buyer", "seller"] })
    .where(eq(organization.id, buyer.organizationId));
  await database()
    .update(user)
    .set({ platformRoles: ["user", "admin"] })
    .where(eq(user.id, buyer.userId));
  const { mandateId, authorizationId } = await paySmallAmounts(buyer);
  const sellerId = await sellSomething(buyer);
  const webhook = await failWebhooks(buyer);
  const elsewhere = await payElsewhere(buyer);
  const carded = await payByCard(buyer, agent);
  await newMember(buyer, "developer");
  const invitation = await newInvitation(buyer, "new.colleague@larkfield.example", "approver");
  // This sends a mail, so that the page with the sandbox's mails is not empty.
  await callAuth("/request-password-reset", { email: buyer.email });
  await sendMails();
  await renameAll(buyer, purchase.seller.sellerId);
  const empty = await newOrganization({ name: "Nothing Yet", productRoles: ["buyer", "seller"] });
  return { full: buyer, empty, checkout, mandateId, authorizationId, sellerId, invitation, agent, webhook, elsewhere, carded };
}
