import { randomBytes } from "node:crypto";
import { createServiceAccount } from "#lib/identity/keys/contract.ts";
import { setStepUpThreshold } from "#lib/identity/members/contract.ts";
import { completeOnboarding } from "#lib/identity/sessions/contract.ts";
import { call, type CallOptions } from "#lib/http/client.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { registerSeller, upsertPaidResource } from "#lib/sellers/contract.ts";
import { proving } from "../scripts/proving.ts";

export const CHAIN = "eip155:84532";

export type Scene = {
  readonly keys: readonly string[];
  readonly sellerId: string;
  readonly domain: string;
  /** The headers of the buyer's session. */
  readonly person: Record<string, string>;
  /** The buyer, who types the password if the service asks for a proof. */
  readonly buyer: CallOptions;
  /** The service accounts of `keys`. */
  readonly agents: readonly string[];
  /** Creates an active mandate with this daily budget in USDC, such as "0.50", and returns its id. */
  mandate(dailyBudget: string, policy?: Partial<Policy>): Promise<string>;
};

type Session = CallOptions & { readonly organizationId: string; readonly password: string };

/** Signs up a person with a new organization, as a browser would. */
async function signUp(url: string, productRole: "buyer" | "seller"): Promise<Session> {
  const post = (path: string, body: unknown) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify(body),
    });
  const account = {
    name: "Bench",
    email: `${randomBytes(8).toString("hex")}@example.com`,
    password: randomBytes(16).toString("hex"),
  };
  const signedUp = await post("/api/auth/sign-up/email", account);
  if (!signedUp.ok) throw new Error(`Sign-up answered ${signedUp.status}: ${await signedUp.text()}`);
  const signedIn = await post("/api/auth/sign-in/email", { email: account.email, password: account.password });
  if (!signedIn.ok) throw new Error(`Sign-in answered ${signedIn.status}: ${await signedIn.text()}`);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const options = { baseUrl: url, headers: { cookie, origin: url } };
  const { session } = await call(
    completeOnboarding,
    { body: { organizationName: `Bench ${productRole}`, productRoles: [productRole] } },
    options,
  );
  return { ...options, organizationId: session.activeOrganization?.organizationId ?? "", password: account.password };
}

/** The address that every seller of a benchmark is paid to. */
export const payTo = "0x1111111111111111111111111111111111111111";

/** Registers a seller with a resource at 0.01 USDC. */
async function openShop(seller: Session): Promise<{ readonly sellerId: string; readonly domain: string }> {
  const domain = `data-${randomBytes(4).toString("hex")}.example.com`;
  const { sellerId } = await call(registerSeller, { body: { name: "Bench data", domain } }, seller);
  const resource = {
    sellerId,
    method: "GET",
    pathTemplate: "/reports/{day}",
    pricing: { type: "fixed", amount: "0.01", asset: "USDC" },
    acceptedPaymentChallengeTypes: ["x402"],
    paymentConfig: { chain: CHAIN, payTo },
  } as const;
  await call(upsertPaidResource, { id: "report", body: { ...resource, acceptedPaymentChallengeTypes: ["x402"] } }, seller);
  return { sellerId, domain };
}

/** Makes `count` sellers and returns an API key of each, with the right to settle payments through this service. */
export async function setSellerScene(url: string, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const seller = await signUp(url, "seller");
    await openShop(seller);
    const { organizationId } = seller;
    const account = { name: "Server", organizationId, capabilities: ["payments:settle" as const] };
    keys.push((await call(createServiceAccount, { body: account }, seller)).apiKey ?? "");
  }
  return keys;
}

/** Makes a buyer with `keys` API keys and a seller with one resource at 0.01 USDC, through the public API. */
export async function setScene(url: string, keys: number): Promise<Scene> {
  const seller = await signUp(url, "seller");
  const buyer = await signUp(url, "buyer");
  const { sellerId, domain } = await openShop(seller);
  // The mandates of a benchmark are large, and people may prove who they are only a few times per minute.
  const amounts = { above: "1000000000000", aboveUnverified: "1000000000000" };
  const proves = proving(buyer.password, buyer);
  await call(setStepUpThreshold, { organizationId: buyer.organizationId, body: amounts }, proves);
  const accounts = await Promise.all(
    Array.from({ length: keys }, (_, index) =>
      call(createServiceAccount, { body: { name: `Agent ${index}`, organizationId: buyer.organizationId } }, buyer),
    ),
  );
  return {
    keys: accounts.map(({ apiKey }) => apiKey ?? ""),
    sellerId,
    domain,
    person: { ...buyer.headers },
    buyer: proves,
    agents: accounts.map(({ serviceAccountId }) => serviceAccountId),
    mandate: async (dailyBudget, policy = {}) => {
      const limits = { perPayment: "1", budgets: [{ period: "day" as const, timezone: "UTC", amount: dailyBudget }] };
      const { mandateId } = await call(
        createMandate,
        { body: { name: "Bench", policy: { assets: [{ asset: "USDC", chain: CHAIN }], limits, ...policy } } },
        buyer,
      );
      await call(activateMandate, { id: mandateId }, buyer);
      return mandateId;
    },
  };
}

let serial = 0;
const run = randomBytes(6).toString("hex");

/** The body of an authorize request with a new intent. */
export function authorizeBody({ sellerId, domain }: Scene, mandateId: string): string {
  const id = `${run}-${serial++}`;
  return JSON.stringify({
    mandateId,
    intent: {
      intentId: id,
      enforcementPath: "offchain",
      paymentChallengeType: "x402",
      seller: { sellerId, name: "Bench data", domain },
      resource: {
        resourceId: "report",
        sellerId,
        method: "GET",
        pathTemplate: "/reports/{day}",
        pricing: { type: "fixed", amount: "0.01", asset: "USDC" },
        acceptedPaymentChallengeTypes: ["x402"],
      },
      amount: "0.01",
      asset: "USDC",
      expiresAt: new Date(Date.now() + 600_000).toISOString(),
      nonce: id,
      idempotencyKey: id,
      createdAt: new Date().toISOString(),
    },
  });
}
