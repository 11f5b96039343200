import { randomBytes } from "node:crypto";
import { createTestClient, http, publicActions, walletActions } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { env } from "#lib/env.ts";
import { call } from "#lib/http/client.ts";
import { registerSeller, upsertPaidResource } from "#lib/sellers/contract.ts";
import { newOrganization } from "#test/identity.ts";
import type { Purchase } from "../../examples/without-package.ts";
import { localChainId, usdcAbi, usdcAddress } from "../../examples/chain.ts";
import { startSeller, stockFacilitator } from "../../examples/seller.ts";

export const rpcUrl = (): string => env().CHAINS[0]?.rpcUrl ?? "";

/** Connects this account to the chain that all journeys use, and sets its balance to one ether for gas. */
export async function chainFor(account: PrivateKeyAccount) {
  const client = createTestClient({ account, chain: baseSepolia, mode: "anvil", transport: http(rpcUrl()), pollingInterval: 50 })
    .extend(publicActions)
    .extend(walletActions);
  await client.setBalance({ address: account.address, value: 10n ** 18n });
  return client;
}

/** An agent's wallet with this much test USDC, in its smallest unit. */
export async function fundedWallet(amount: bigint): Promise<PrivateKeyAccount> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const chain = await chainFor(wallet);
  const args = [wallet.address, amount] as const;
  const hash = await chain.writeContract({ address: usdcAddress, abi: usdcAbi, functionName: "mint", args });
  await chain.waitForTransactionReceipt({ hash });
  return wallet;
}

const PRICE = "0.25";

export type Stall = { readonly domain: string; readonly purchase: Purchase; close(): Promise<void> };

/** A registered seller with the standard x402 library that settles by itself: GET /report for 0.25 USDC. */
export async function openStall(): Promise<Stall> {
  const privateKey = generatePrivateKey();
  const payTo = privateKeyToAccount(privateKey).address;
  await chainFor(privateKeyToAccount(privateKey));
  const seller = await startSeller({ facilitator: stockFacilitator({ rpcUrl: rpcUrl(), privateKey }), payTo });
  const owner = await newOrganization({ name: "Weather Data", productRoles: ["seller"] });
  const as = { baseUrl: env().BASE_URL, headers: owner.credential };
  const domain = `weather-${randomBytes(4).toString("hex")}.example`;
  const { sellerId } = await call(registerSeller, { body: { name: "Weather Data", domain } }, as);
  await call(
    upsertPaidResource,
    {
      id: "report",
      body: {
        sellerId,
        method: "GET",
        pathTemplate: "/report",
        description: "Weather report",
        pricing: { type: "fixed", amount: PRICE, asset: "USDC" },
        acceptedPaymentChallengeTypes: ["x402"],
        paymentConfig: { chain: localChainId, payTo },
      },
    },
    as,
  );
  const purchase = { url: `${seller.url}/report`, sellerId, resourceId: "report", amount: PRICE };
  return { domain, purchase, close: () => seller.close() };
}
