import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { lower } from "#lib/evm.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { resources } from "#lib/sellers/tables.ts";
import { dispatch } from "#lib/server/entry.ts";
import { view } from "#test/checkouts.ts";
import { activeMandate, assets, CHAIN } from "#test/mandates.ts";
import { newWallet, signed } from "#test/payments.ts";
import { createAgent, createOrganization, createPerson, createResource, type Credential } from "#test/tenant.ts";

/* A buyer with payments and checkouts. The tests execute the payments and approve the checkouts while a right is revoked. */

/** Payments above 0.4 need a person's approval. */
const policy = { assets, limits: { perPayment: "1", total: "1000" }, approval: { mode: "above", amount: "0.4" } };
const CHEAP = "0.3";
const payer = newWallet();
export const payerAddress = payer.address;

type Seller = Awaited<ReturnType<typeof createResource>>;

/**
 * Resources with a price that requires approval. Each is requested once, because a second request would find the checkout that is
 * already open.
 */
const dear = [
  { resourceId: "long-report", amount: "0.5" },
  { resourceId: "longer-report", amount: "0.6" },
] as const;

/** A seller of three reports. */
export async function newSeller(): Promise<Seller> {
  const seller = await createResource(await createOrganization("Shop"), CHEAP);
  const [cheap] = await database().select().from(resources).where(eq(resources.sellerId, seller.sellerId));
  const priced = dear.map(({ resourceId, amount }) => {
    const pricing = { type: "fixed" as const, amount, asset: "USDC" };
    return { ...cheap!, resourceId, pathTemplate: `/${resourceId}`, pricing };
  });
  await database().insert(resources).values(priced);
  return seller;
}

export type Answer = { readonly status: number; readonly body: Record<string, unknown> };

/** Sends a request to the server at `url`, or to this process when `url` is null. */
export async function post(path: string, body: unknown, as: Credential, url: string | null): Promise<Answer> {
  const headers = { "content-type": "application/json", ...as };
  const request = new Request(`${url ?? env().BASE_URL}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const response = await (url === null ? dispatch(request) : fetch(request));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

type PaymentRequest = { readonly resourceId: string; readonly amount: string };
const cheap: PaymentRequest = { resourceId: "report", amount: CHEAP };

let count = 0;

function intentTo({ sellerId }: Seller, { resourceId, amount }: PaymentRequest) {
  const name = `race-${++count}`;
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  const seller = { sellerId };
  return {
    intentId: name,
    nonce: name,
    idempotencyKey: name,
    seller,
    resource: { resourceId },
    amount,
    asset: "USDC",
    expiresAt,
  };
}

type Decision = { readonly outcome: string; readonly reasons: readonly { readonly href?: string }[] };
const decisionOf = ({ body }: Answer) => body["policyDecision"] as Decision | undefined;

/** What a reply says in one word: the outcome of its decision, the code of its refusal, or "done". */
export const told = (answer: Answer): string =>
  decisionOf(answer)?.outcome ?? (answer.body["code"] as string | undefined) ?? "done";

/**
 * A buyer with a person and an agent. `spends` says which of them authorizes and executes payments. The person approves the
 * agent's requests.
 */
export async function newScene(seller: Seller, spends: "person" | "agent") {
  const organizationId = await createOrganization("Buyer");
  const [person, agent] = await Promise.all([
    createPerson(organizationId),
    createAgent(organizationId, ["payments:authorize", "payments:execute", "payments:read"]),
  ]);
  const mandateId = await activeMandate(person.credential, { policy });
  await database().insert(mandateSellers).values({ mandateId, sellerId: seller.sellerId, firstPaidAt: new Date() });
  const spender = spends === "person" ? person.credential : agent.credential;
  const authorize = (wanted = cheap, as = spender, url: string | null = null) =>
    post("/payments/authorize", { mandateId, intent: intentTo(seller, wanted) }, as, url);
  const payments = await Promise.all([authorize(), authorize()]);
  const asked = await Promise.all(dear.map((wanted) => authorize(wanted, agent.credential)));
  const checkouts = asked.map(
    (answer) =>
      decisionOf(answer)
        ?.reasons.find(({ href }) => href)
        ?.href?.split("/")
        .at(-1) ?? "",
  );
  for (const checkoutIntentId of checkouts) await view(checkoutIntentId, person.credential);
  const payment = { asset: assetOf(CHAIN, "USDC")!, amount: 300_000n, payTo: lower(seller.payTo) };
  const credentials = await Promise.all(payments.map(() => signed(payer, { ...payment, maxTimeoutSeconds: 300 })));
  return {
    organizationId,
    person,
    agent,
    mandateId,
    sellerId: seller.sellerId,
    authorize: (url: string | null) => authorize(cheap, spender, url),
    execute: (at: number, url: string | null) => {
      const authorizationId = payments[at]!.body["authorizationId"];
      const body = { authorizationId, paymentCredential: credentials[at], idempotencyKey: `x-${++count}` };
      return post("/payments/execute", body, spender, url);
    },
    approve: (at: number, url: string | null) =>
      post(`/agent/commerce/checkouts/${checkouts[at]}/approve`, {}, person.credential, url),
  };
}
export type RaceScene = Awaited<ReturnType<typeof newScene>>;
