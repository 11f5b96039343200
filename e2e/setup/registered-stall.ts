import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { call } from "#lib/http/client.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import { prepareRegistration, registerMandate } from "#lib/onchain/registry/registration-contract.ts";
import { mandateRegistrations } from "#lib/onchain/tables.ts";
import type { Owner } from "#test/identity.ts";
import { authorizationOf, bodyOf, signTyped } from "#test/registrations.ts";
import { localChainId } from "../../examples/chain.ts";
import { startSeller, stockFacilitator, type Seller } from "../../examples/seller.ts";
import { expect } from "./journey.ts";
import { chainFor, fundedWallet, rpcUrl } from "./stall.ts";

export type RegisteredStall = {
  readonly seller: Seller;
  readonly payTo: `0x${string}`;
  /** The URL of a report that costs 0.25 USDC. */
  readonly reportUrl: string;
  readonly mandateId: string;
};

/**
 * A seller with the standard x402 library that knows nothing of this service, and a mandate of the buyer that is registered on the
 * chain for this seller's address. A person must approve payments above 0.1 USDC.
 */
export async function openRegisteredStall({ credential }: Owner, name: string): Promise<RegisteredStall> {
  const privateKey = generatePrivateKey();
  const payTo = privateKeyToAccount(privateKey).address;
  await chainFor(privateKeyToAccount(privateKey));
  const facilitator = stockFacilitator({ rpcUrl: rpcUrl(), privateKey });
  const seller = await startSeller({ facilitator, payTo, port: Number(process.env["STALL_PORT"]) });
  const as = { baseUrl: env().BASE_URL, headers: credential };
  const wallet = await fundedWallet(10_000_000n);
  const policy = {
    assets: [{ asset: "USDC", chain: localChainId }],
    limits: { perPayment: "1", budgets: [{ period: "day" as const, timezone: "UTC", amount: "5" }] },
    sellers: { unregistered: "allow" as const },
    approval: { mode: "above" as const, amount: "0.1" },
  };
  const { mandateId } = await call(
    createMandate,
    { body: { name, policy, wallet: { chain: localChainId, address: wallet.address } } },
    as,
  );
  await call(activateMandate, { id: mandateId }, as);
  const prepared = await call(prepareRegistration, { id: mandateId, query: { payeeAddress: payTo } }, as);
  const signature = await signTyped(wallet, prepared.typedData);
  const authorization = await authorizationOf(wallet, prepared);
  await call(registerMandate, { id: mandateId, body: { ...bodyOf(prepared, signature), authorization } as never }, as);
  const registered = async () =>
    (await database().select().from(mandateRegistrations).where(eq(mandateRegistrations.mandateId, mandateId)))[0]?.status;
  await expect.poll(registered).toBe("registered");
  return { seller, payTo, reportUrl: `${seller.url}/report`, mandateId };
}
