import { keccak256, stringToHex, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { beforeAll } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf } from "#lib/money.ts";
import { mandateRegistrations } from "#lib/onchain/tables.ts";
import { forget } from "#lib/process.ts";
import type { LocalChain } from "../../examples/chain.ts";
import { CHAIN } from "#test/mandates.ts";
import { paymentScene } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import {
  delegated,
  deployContracts,
  keyOf,
  newKey,
  registrationArgs,
  registryAbi,
  signRegistration,
  termsOf,
  type Contracts,
  type Terms,
} from "#test/smart-account.ts";

/**
 * Deploys the mandate contracts on the chain of a test file, and configures the service for them. Call this after useSettlement.
 */
export function useContracts(chain: () => LocalChain): () => Contracts {
  let contracts: Contracts | undefined;
  beforeAll(async () => {
    const guardian = keyOf(env().GUARDIAN_PRIVATE_KEY as Hex);
    contracts = await deployContracts(chain(), { guardian, policySigner: keyOf(env().POLICY_SIGNER_PRIVATE_KEY as Hex) });
    const [configured] = env().CHAINS;
    const known = {
      mandateRegistry: contracts.registry,
      paymentModule: contracts.paymentModule,
      smartPaymentAccount: contracts.implementation,
      policySigner: contracts.policySigner.address,
    };
    process.env["CHAINS"] = JSON.stringify([{ ...configured, contracts: known }]);
    forget("env");
  });
  return () => {
    if (!contracts) throw new Error("The contracts are there from the first hook to the last.");
    return contracts;
  };
}

type RegistrationOptions = {
  readonly mandateId: string;
  readonly organizationId: string;
  readonly payTo: Hex;
  readonly terms?: Partial<Terms>;
  /** Whether the mandate is registered on the chain. */
  readonly onChain?: boolean;
};

/**
 * Registers a mandate for one payee as its account would: 0.25 USDC per payment and 1 USDC per hour, which is four payments. The
 * current period began 30 minutes ago.
 */
export async function register(chain: LocalChain, contracts: Contracts, key: PrivateKeyAccount, mandate: RegistrationOptions) {
  const { mandateId, organizationId, payTo, terms: change = {}, onChain = true } = mandate;
  const now = Math.floor(Date.now() / 1_000);
  const terms = termsOf(key.address, now, {
    payee: payTo,
    perPaymentLimit: 250_000n,
    periodLimit: 1_000_000n,
    maxPaymentsPerPeriod: 4,
    start: now - 1_800,
    ...change,
  });
  const onChainId = keccak256(stringToHex(`${mandateId}:1`));
  const registration = await signRegistration(contracts.registry, key, terms, { mandateId: onChainId });
  if (onChain) {
    const call = { address: contracts.registry, abi: registryAbi, functionName: "registerMandate" } as const;
    await chain.mined(chain.client.writeContract({ ...call, args: registrationArgs(registration) }));
  }
  const registrationId = newId("registration");
  await database()
    .insert(mandateRegistrations)
    .values({
      ...terms,
      registrationId,
      organizationId,
      environment: "sandbox",
      mandateId,
      version: 1,
      chain: CHAIN,
      registry: contracts.registry.toLowerCase(),
      account: terms.account.toLowerCase(),
      payee: terms.payee.toLowerCase(),
      token: terms.token.toLowerCase(),
      onChainId,
      perPaymentLimit: atomicOf(terms.perPaymentLimit),
      periodLimit: atomicOf(terms.periodLimit),
      nonce: atomicOf(registration.nonce),
      deadline: 2_000_000_000,
      fingerprint: registrationId,
      status: "registered",
      relayId: registrationId,
      confirmedAt: new Date(),
    });
  return { terms, onChainId, registrationId };
}

type Scene = Omit<Parameters<typeof paymentScene>[0] & object, "mandate"> &
  Pick<RegistrationOptions, "terms" | "onChain"> & {
    /** The account's token balance, in atomic units. */
    readonly balance?: bigint;
    /** Whether the account delegates to the smart account contract. */
    readonly delegate?: boolean;
  };

/**
 * A mandate whose wallet delegates to the smart account contract, registered for the seller's address, and an agent without a
 * wallet key.
 */
export async function registeredScene(chain: LocalChain, contracts: Contracts, scene: Scene = {}) {
  const { terms, onChain, balance = 10_000_000n, delegate = true, ...shop } = scene;
  const key = delegate ? await delegated(chain, contracts.implementation) : newKey();
  await chain.mint(key.address, balance);
  const payTo = shop.payTo ?? randomAddress();
  const paying = await paymentScene({ ...shop, payTo, mandate: { wallet: { chain: CHAIN, address: key.address } } });
  const { mandateId, organizationId } = paying;
  const mandate = { mandateId, organizationId, payTo, ...(terms && { terms }), ...(onChain !== undefined && { onChain }) };
  return { ...paying, key, ...(await register(chain, contracts, key, mandate)) };
}
export type RegisteredScene = Awaited<ReturnType<typeof registeredScene>>;
