import { randomUUID } from "node:crypto";
import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import type { LocalAccount } from "viem";

const network = "eip155:84532";

export type AgentOptions = {
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly mandateId: string;
  /** Not needed if the service signs the mandate's payments itself, which needs a registration on the chain. */
  readonly wallet?: LocalAccount;
  readonly fetch?: typeof fetch;
};

export type Purchase = { readonly url: string; readonly sellerId: string; readonly resourceId: string; readonly amount: string };

export type Bought =
  | {
      readonly outcome: "paid";
      readonly response: Response;
      readonly execution: Execution;
      readonly authorization: Authorization;
    }
  | { readonly outcome: "refused"; readonly authorization: Authorization }
  | { readonly outcome: "failed"; readonly authorization: Authorization; readonly problem: Problem };

export type Authorization = {
  readonly authorizationId: string;
  readonly policyDecision: {
    readonly outcome: string;
    readonly denialCode?: string;
    readonly reasons: readonly { readonly effect: string; readonly message: string }[];
    readonly reservationId?: string;
  };
};
export type Execution = {
  readonly executionId: string;
  readonly settlementStatus: string;
  readonly settlementReference?: string;
  readonly credentialHeaders?: Record<string, string>;
};
type Problem = Readonly<Record<string, unknown>>;

const call = ({ serviceUrl, apiKey, fetch: send = fetch }: AgentOptions, path: string, body: unknown): Promise<Response> =>
  send(`${serviceUrl}/api/v1/payments/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** The standard client has limits of its own: one dollar, and known tokens. They are off, because here the mandate sets the limits. */
function x402({ wallet }: AgentOptions): x402HTTPClient {
  const client = new x402Client().setSpendControls(false);
  return new x402HTTPClient(wallet ? client.register(network, new ExactEvmScheme(wallet)) : client);
}

/** Requests the resource without paying. The 402 with which the seller answers contains its terms. */
export async function meet(agent: AgentOptions, url: string): Promise<PaymentRequired> {
  const { fetch: send = fetch } = agent;
  const unpaid = await send(url);
  if (unpaid.status !== 402) throw new Error(`${url} asks for no payment: it answered ${unpaid.status}.`);
  return x402(agent).getPaymentRequiredResponse((name) => unpaid.headers.get(name));
}

/**
 * The intent for an authorization. A second request with the same intent gets the same bytes as the first. With the seller's
 * 402 as `challenge`, the service can sign for an agent that has no wallet.
 */
export const intentFor = ({ sellerId, resourceId, amount }: Purchase, challenge?: PaymentRequired) => ({
  ...bareIntent(amount),
  seller: { sellerId },
  resource: { resourceId },
  ...(challenge && { challenge }),
});

/** The intent for a seller that is not registered. The payee and the chain come from the seller's 402. */
export function intentForStranger(terms: PaymentRequired, amount: string) {
  const [offer] = terms.accepts;
  if (!offer) throw new Error("The 402 offers no way to pay.");
  const { network: chain, payTo } = offer;
  return { ...bareIntent(amount), seller: {}, chain, payTo, challenge: terms };
}

const bareIntent = (amount: string) => {
  const key = randomUUID();
  return {
    intentId: key,
    nonce: key,
    idempotencyKey: key,
    amount,
    asset: "USDC",
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  };
};

type Intent = ReturnType<typeof intentFor> | ReturnType<typeof intentForStranger>;

export type Answer = { readonly authorization: Authorization; readonly text: string; readonly replayed: boolean };

/** Asks whether this payment is allowed. Only the outcome `allow` permits it; a refusal contains its reasons. */
export async function authorize(agent: AgentOptions, intent: Intent): Promise<Answer> {
  const response = await call(agent, "authorize", { mandateId: agent.mandateId, intent });
  const text = await response.text();
  if (!response.ok) throw new Error(`authorize answered ${response.status}.`, { cause: JSON.parse(text) });
  const replayed = response.headers.get("idempotent-replayed") === "true";
  return { authorization: JSON.parse(text) as Authorization, text, replayed };
}

/**
 * Signs the seller's terms if the agent has a wallet, and executes the payment. The service checks the signed payment before the
 * seller gets it.
 */
export async function execute(
  agent: AgentOptions,
  { authorizationId }: Authorization,
  terms: PaymentRequired,
): Promise<Execution | { readonly problem: Problem }> {
  const paymentCredential = agent.wallet && (await signed(agent, terms));
  const response = await call(agent, "execute", { authorizationId, idempotencyKey: randomUUID(), paymentCredential });
  return response.ok ? ((await response.json()) as Execution) : { problem: (await response.json()) as Problem };
}

async function signed(agent: AgentOptions, terms: PaymentRequired): Promise<string | undefined> {
  const client = x402(agent);
  const payload = await client.createPaymentPayload(terms);
  return client.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"];
}

/** Repeats the first request, with the signed payment. */
export const collect = (
  { fetch: send = fetch }: AgentOptions,
  url: string,
  { credentialHeaders }: Execution,
): Promise<Response> => send(url, { headers: credentialHeaders ?? {} });

/** Makes one payment: the seller's 402, authorize, sign, execute, and the paid request. */
export async function buy(agent: AgentOptions, purchase: Purchase): Promise<Bought> {
  const terms = await meet(agent, purchase.url);
  const { authorization } = await authorize(agent, intentFor(purchase));
  if (authorization.policyDecision.outcome !== "allow") return { outcome: "refused", authorization };
  const execution = await execute(agent, authorization, terms);
  if ("problem" in execution) return { outcome: "failed", authorization, problem: execution.problem };
  return { outcome: "paid", response: await collect(agent, purchase.url, execution), execution, authorization };
}
