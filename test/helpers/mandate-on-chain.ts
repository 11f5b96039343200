import type { Address, Hex } from "viem";
import type { LocalChain } from "../../examples/chain.ts";
import {
  accountAbi,
  delegated,
  prove,
  registrationArgs,
  registryAbi,
  signRegistration,
  termsOf,
  type Contracts,
  type Terms,
} from "./smart-account.ts";

const MAGIC = "0x1626ba7e";

/**
 * An account that delegates to the smart account contract, with tokens and with a mandate for three payments of 1,000 atomic
 * units per hour.
 */
export async function mandateOnChain(chain: LocalChain, contracts: Contracts, change: Partial<Terms> = {}) {
  const owner = await delegated(chain, contracts.implementation);
  await chain.mint(owner.address, 1_000_000n);
  const now = Number((await chain.client.getBlock()).timestamp);
  const terms = termsOf(owner.address, now, change);
  const registration = await signRegistration(contracts.registry, owner, terms);
  await chain.mined(
    chain.client.writeContract({
      address: contracts.registry,
      abi: registryAbi,
      functionName: "registerMandate",
      args: registrationArgs(registration),
    }),
  );
  const { mandateId } = registration;
  const transfer = {
    from: owner.address,
    to: terms.payee,
    value: 1_000n,
    validAfter: 0n,
    validBefore: BigInt(now + 600),
  };
  const proof = (
    { period = 0n, slot = 0n }: { period?: bigint; slot?: bigint } = {},
    changed: Partial<typeof transfer> & { nonce?: Hex } = {},
    key = contracts.policySigner.key,
  ) => prove(key, { mandateId, period, slot }, { ...transfer, ...changed });
  const accepted = async ({ digest, signature }: { digest: Hex; signature: Hex }, account: Address = owner.address) => {
    try {
      const answer = await chain.client.readContract({
        address: account,
        abi: accountAbi,
        functionName: "isValidSignature",
        args: [digest, signature],
      });
      return answer === MAGIC;
    } catch {
      return "reverted";
    }
  };
  return { owner, terms, mandateId, transfer, proof, accepted };
}

/** Revokes a mandate with the guardian's key. */
export async function revokeOnChain(chain: LocalChain, contracts: Contracts, account: Address, mandateId: Hex): Promise<void> {
  await chain.fund(contracts.guardian.address);
  await chain.mined(
    chain.client.writeContract({
      account: contracts.guardian,
      address: contracts.registry,
      abi: registryAbi,
      functionName: "revoke",
      args: [account, mandateId],
    }),
  );
}
