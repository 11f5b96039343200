import { x402Client, x402HTTPClient } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll } from "vitest";
import { startChain, usdcAddress, type ChainOptions, type LocalChain } from "../../examples/chain.ts";
import { lower } from "#lib/evm.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import * as contract from "#lib/payments/contract.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { paymentRequiredHeaders, type ExpectedPayment } from "#lib/x402/requirements.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { forget } from "#lib/process.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { CHAIN, activeMandate } from "#test/mandates.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send } from "#test/tenant.ts";
import type { ResourceSettlementMode } from "#lib/vocabulary.ts";

type Installation = ChainOptions & {
  readonly facilitators?: () => readonly { readonly url: string }[];
  readonly facilitatorTimeoutMs?: number;
};

/**
 * Starts a chain for a test file, and configures the service for this chain and these facilitators. Call this after useDatabase.
 */
export function useSettlement({ facilitators, facilitatorTimeoutMs, ...options }: Installation = {}): () => LocalChain {
  let chain: LocalChain | undefined;
  beforeAll(async () => {
    chain = await startChain(options);
    const usdc = {
      asset: "USDC",
      tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
      tokenName: "USDC",
      tokenVersion: "2",
      tokenDecimals: 6,
    };
    process.env["CHAINS"] = JSON.stringify([{ chain: CHAIN, rpcUrl: chain.rpcUrl, confirmations: 0, assets: [usdc] }]);
    if (facilitatorTimeoutMs) process.env["FACILITATOR_TIMEOUT_MS"] = String(facilitatorTimeoutMs);
    if (facilitators) process.env["FACILITATORS"] = JSON.stringify(facilitators());
    forget("env", `chains/client ${CHAIN}`, "settlement/facilitator", "settlement/wallet");
    await chain.fund(settlementAccount().address);
  });
  afterAll(async () => chain?.stop());
  return () => {
    if (!chain) throw new Error("The chain runs from the first hook to the last.");
    return chain;
  };
}

type Scene = {
  readonly settlementMode?: ResourceSettlementMode;
  readonly facilitatorUrl?: string;
  readonly price?: string;
  readonly maxTimeoutSeconds?: number;
  readonly mandate?: Record<string, unknown>;
  readonly payTo?: Address;
  readonly method?: "GET" | "POST";
};

/** A buyer with a mandate and an agent, and a seller with one resource. */
export async function paymentScene({ mandate = {}, ...shop }: Scene = {}) {
  const organizationId = await createOrganization("Buyer");
  const person = await createPerson(organizationId);
  const agent = await createAgent(organizationId, ["payments:authorize", "payments:execute", "payments:read", "mandates:read"]);
  const sellerOrganizationId = await createOrganization("Shop");
  const owner = await createPerson(sellerOrganizationId);
  const seller = await newSeller(owner.credential, { price: "0.25", ...shop, payTo: shop.payTo ?? randomAddress() });
  const mandateId = await activeMandate(person.credential, mandate);
  return { organizationId, person, agent, seller, sellerOrganizationId, owner, mandateId };
}
export type PaymentScene = Awaited<ReturnType<typeof paymentScene>>;

let count = 0;

export async function authorized({ agent, mandateId, seller }: PaymentScene, change: Record<string, unknown> = {}) {
  const name = `p-${++count}-${Date.now()}`;
  const intent = {
    intentId: name,
    nonce: name,
    idempotencyKey: name,
    seller: { sellerId: seller.sellerId },
    resource: { resourceId: seller.resourceId },
    amount: seller.price,
    asset: "USDC",
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
    ...change,
  };
  const { status, data, problem } = await send(contract.authorizePayment, authorizePayment, {
    as: agent.credential,
    body: { mandateId, intent },
  });
  if (status !== 200) throw new Error(JSON.stringify(problem));
  return data;
}

export type Execute = { readonly authorizationId: string; readonly idempotencyKey?: string; readonly paymentCredential?: string };

export const execute = (
  { agent }: PaymentScene,
  { idempotencyKey = `x-${++count}-${Date.now()}`, ...body }: Execute,
  as = agent.credential,
) => send(contract.executePayment, executePayment, { as, body: { ...body, idempotencyKey } });

export const readPayment = ({ agent }: PaymentScene, authorizationId: string) =>
  send(contract.getPayment, getPayment, { as: agent.credential, id: authorizationId });

export const newWallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());

/** A new wallet with this amount of the token, in atomic units. */
export async function fundedWallet(chain: LocalChain, amount = 1_000_000n): Promise<PrivateKeyAccount> {
  const wallet = newWallet();
  await chain.mint(wallet.address, amount);
  return wallet;
}

/** Sends a transaction. After it is mined, the token refuses all transfers from and to this account. */
export const blacklist = (chain: LocalChain, account: Address, maxPriorityFeePerGas = 1n) =>
  chain.client.writeContract({
    address: usdcAddress,
    abi: [{ type: "function", name: "blacklist", stateMutability: "nonpayable", inputs: [{ type: "address" }], outputs: [] }],
    functionName: "blacklist",
    args: [account],
    maxPriorityFeePerGas,
  });

export function expectedOf({ seller }: PaymentScene, maxTimeoutSeconds = 300): ExpectedPayment {
  const asset = assetOf(CHAIN, "USDC");
  if (!asset) throw new Error("USDC is configured.");
  const amount = BigInt(Math.round(Number(seller.price) * 1e6));
  return { asset, amount, payTo: lower(seller.payTo), maxTimeoutSeconds };
}

/** The payment that a standard client signs for the headers of a seller's 402. */
export async function signedFor(wallet: PrivateKeyAccount, header: (name: string) => string | null | undefined): Promise<string> {
  const client = new x402HTTPClient(new x402Client().setSpendControls(false).register(CHAIN, new ExactEvmScheme(wallet)));
  const required = client.getPaymentRequiredResponse(header);
  const payload = await client.createPaymentPayload(required);
  return client.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"] ?? "";
}

/** Signs a payment without the 402 of a seller. */
export function signed(wallet: PrivateKeyAccount, payment: ExpectedPayment): Promise<string> {
  const headers = paymentRequiredHeaders(payment, "https://shop.example.com/report");
  return signedFor(wallet, (name) => headers[name]);
}
