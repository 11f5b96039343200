import { randomUUID } from "node:crypto";
import { x402Client, x402HTTPClient } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import type { LocalAccount } from "viem";

const network = "eip155:84532";

export type AgentOptions = {
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly mandateId: string;
  readonly wallet: LocalAccount;
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
  | { readonly outcome: "failed"; readonly authorization: Authorization; readonly problem: Readonly<Record<string, unknown>> };

export type Authorization = {
  readonly authorizationId: string;
  readonly policyDecision: {
    readonly outcome: string;
    readonly denialCode?: string;
    readonly reasons: readonly { readonly message: string }[];
  };
};
export type Execution = {
  readonly executionId: string;
  readonly settlementStatus: string;
  readonly credentialHeaders?: Record<string, string>;
};

/** An agent that asks before it pays: the seller's 402, authorize, sign, execute, and the paid request. */
export async function buy(
  { serviceUrl, apiKey, mandateId, wallet, fetch: send = fetch }: AgentOptions,
  purchase: Purchase,
): Promise<Bought> {
  const call = (path: string, body: unknown) =>
    send(`${serviceUrl}/api/v1/payments/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const { url, sellerId, resourceId, amount } = purchase;
  const unpaid = await send(url);
  const key = randomUUID();
  const intent = {
    intentId: key,
    nonce: key,
    idempotencyKey: key,
    seller: { sellerId },
    resource: { resourceId },
    amount,
    asset: "USDC",
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  };
  const authorization = (await (await call("authorize", { mandateId, intent })).json()) as Authorization;
  if (authorization.policyDecision.outcome !== "allow") return { outcome: "refused", authorization };

  const client = new x402HTTPClient(new x402Client().register(network, new ExactEvmScheme(wallet)));
  const payload = await client.createPaymentPayload(client.getPaymentRequiredResponse((name) => unpaid.headers.get(name)));
  const paymentCredential = client.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"];
  const { authorizationId } = authorization;
  const executed = await call("execute", { authorizationId, idempotencyKey: key, paymentCredential });
  if (!executed.ok) return { outcome: "failed", authorization, problem: (await executed.json()) as Record<string, unknown> };
  const execution = (await executed.json()) as Execution;
  const response = await send(url, { headers: execution.credentialHeaders ?? {} });
  return { outcome: "paid", response, execution, authorization };
}
