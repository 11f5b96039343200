import { setTimeout as pause } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { x402Client, x402HTTPClient } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import type { AgentOptions } from "./without-package.ts";
import { localChainId } from "./chain.ts";

const WAIT_SECONDS = 30;
const POLL_MS = 250;

export type Item = {
  readonly productId?: string;
  readonly variantId?: string;
  readonly query?: string;
  readonly quantity?: number;
};
export type Shopping = { readonly storefrontUrl: string; readonly items: readonly Item[]; readonly idempotencyKey: string };

export type Order = {
  readonly status: string;
  readonly nextAction?: { readonly type: string; readonly url?: string; readonly label: string };
  readonly quote?: { readonly amount: string; readonly asset: string };
  readonly storefront?: { readonly metadata?: Readonly<Record<string, unknown>> };
  readonly authorization?: { readonly policyDecision: { readonly denialCode?: string } };
  readonly paymentRequired?: Readonly<Record<string, string>>;
};

export type Check = { readonly key: string; readonly status: string; readonly message: string };
export type Readiness = { readonly status: string; readonly checks: readonly Check[] };

type Previewed = { readonly intent: { readonly checkoutIntentId: string }; readonly nextAction: { readonly url?: string } };
type Waited = { readonly intent: { readonly status: string }; readonly continuationToken?: string };

/**
 * Calls an operation of the service. @throws If the answer is not 2xx, an error whose cause is the answer, a problem that says
 * what to do.
 */
async function call<T>({ serviceUrl, apiKey, fetch: send = fetch }: AgentOptions, path: string, body?: unknown): Promise<T> {
  const response = await send(`${serviceUrl}/api/v1/agent/commerce/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${apiKey}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${path} answered ${response.status}.`, { cause: answer });
  return answer as T;
}

/** An order with one idempotency key, so that every retry is the same order. */
export const shoppingAt = (storefrontUrl: string, items: readonly Item[]): Shopping => ({
  storefrontUrl,
  items,
  idempotencyKey: randomUUID(),
});

/** Asks whether an order can be placed now. Nothing is ordered or reserved. */
export const askReadiness = (agent: AgentOptions, { storefrontUrl, items }: Shopping): Promise<Readiness> =>
  call(agent, "readiness", { mandateId: agent.mandateId, storefrontUrl, items });

/** Opens a checkout. The buyer confirms it at the URL in the reply. */
export const preview = (agent: AgentOptions, shopping: Shopping): Promise<Previewed> =>
  call(agent, "checkouts", { ...shopping, mandateId: agent.mandateId });

/**
 * Waits until the buyer decides or the checkout ends without a decision. The service answers each request when that happens, or
 * after WAIT_SECONDS.
 */
export async function waitForBuyer(agent: AgentOptions, checkoutIntentId: string): Promise<Waited> {
  for (;;) {
    const waited = await call<Waited>(agent, `checkouts/${checkoutIntentId}?waitSeconds=${WAIT_SECONDS}`);
    if (waited.intent.status !== "previewed" && waited.intent.status !== "awaiting_approval") return waited;
  }
}

/** Continues an approved checkout with exactly the terms that the buyer confirmed. */
export const proceed = (
  agent: AgentOptions,
  checkoutIntentId: string,
  redeemed: { readonly continuationToken: string; readonly idempotencyKey: string; readonly paymentCredential?: string },
): Promise<Order> => call(agent, `checkouts/${checkoutIntentId}/continue`, redeemed);

/** Places an order, or continues it. The reply says what the order still needs. A credential is the signed payment for it. */
export const place = (agent: AgentOptions, shopping: Shopping, paymentCredential?: string): Promise<Order> =>
  call(agent, "place-order", {
    ...shopping,
    mandateId: agent.mandateId,
    ...(paymentCredential !== undefined && { paymentCredential }),
  });

/**
 * Signs the payment that the 402 asks for. The standard client has limits of its own: one dollar, and known tokens. They are off,
 * because here the mandate sets the limits.
 */
export async function sign({ wallet }: AgentOptions, paymentRequired: Readonly<Record<string, string>>): Promise<string> {
  if (!wallet) throw new Error("The order asks for a signature, and the agent has no wallet.");
  const client = new x402HTTPClient(new x402Client().setSpendControls(false).register(localChainId, new ExactEvmScheme(wallet)));
  const required = client.getPaymentRequiredResponse((name) => paymentRequired[name]);
  return client.encodePaymentSignatureHeader(await client.createPaymentPayload(required))["PAYMENT-SIGNATURE"] ?? "";
}

/** The checkout's id, which is the last part of the confirmation link. */
export const checkoutIn = (url: string): string => new URL(url).pathname.split("/").at(-1) ?? "";

export type OnApproval = (url: string) => void | Promise<void>;

/** Repeats `place` until the order is complete, has failed, or needs something other than an approval or a signature. */
export async function order(agent: AgentOptions, shopping: Shopping, onApproval: OnApproval): Promise<Order> {
  let credential: string | undefined;
  for (;;) {
    const at = await place(agent, shopping, credential);
    if (at.status === "paymentCredentialRequired" && at.paymentRequired && credential === undefined) {
      credential = await sign(agent, at.paymentRequired);
    } else if (at.status === "approvalRequired" && at.nextAction?.url !== undefined) {
      const { url } = at.nextAction;
      await onApproval(url);
      await waitForBuyer(agent, checkoutIn(url));
    } else if (at.status === "processing") await pause(POLL_MS);
    else return at;
  }
}
