import type { ContractFunctionRevertedError, Hex } from "viem";
import { hashAuthorization } from "viem/utils";
import { lower } from "#lib/evm.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainIdOf } from "#lib/chains/chains.ts";
import { chainFailure, chainIsSilent, isChainError, publicClient } from "#lib/chains/client.ts";
import type { Deployment } from "#lib/onchain/registry/deployments.ts";
import type { Authorization } from "#lib/onchain/registry/registration-contract.ts";
import { registrationArgs, registrationDigest, registryAbi, type RegisterCall } from "#lib/onchain/registry/registry.ts";
import { nonceReused } from "#lib/onchain/registry/registration-rules.ts";
import type { StoredAuthorization } from "#lib/onchain/tables.ts";
import { acceptedByCode, signedByKey } from "#lib/onchain/token.ts";
import { invalidField, isProblem, Problem } from "#lib/problem.ts";
import { isCanonicalSignature } from "#lib/x402/verify.ts";

/** Throws rpc_unavailable in place of any error but a Problem or an answer of the chain, such as a revert. */
export async function onChain<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isProblem(error) || !chainIsSilent(error)) throw error;
    log().warn({ failure: chainFailure(error) }, "The chain does not answer");
    throw new Problem("rpc_unavailable", {
      detail: "The chain does not answer now, so nothing was sent. Try again in a moment.",
    });
  }
}

/** The EIP-7702 prefix in an account's code, before the address that it delegates to. */
const DELEGATION = "0xef0100";

export type AccountFacts = {
  /** Empty if the account has no code. */
  readonly code: string;
  readonly transactions: number;
  readonly nonceUsed: boolean;
};

export async function readAccount(deployment: Deployment, account: Hex, nonce: bigint): Promise<AccountFacts> {
  const client = publicClient(deployment.chain);
  const [code, transactions, nonceUsed] = await Promise.all([
    client.getCode({ address: account }),
    client.getTransactionCount({ address: account }),
    client.readContract({
      address: deployment.mandateRegistry,
      abi: registryAbi,
      functionName: "nonceUsed",
      args: [account, nonce],
    }),
  ]);
  return { code: (code ?? "0x").toLowerCase().replace(/^0x$/, ""), transactions, nonceUsed };
}

/** `code` is in lower case. */
export const isDelegated = (code: string, { smartPaymentAccount }: Pick<Deployment, "smartPaymentAccount">): boolean =>
  code === `${DELEGATION}${lower(smartPaymentAccount).slice(2)}`;

/** The key signs if the account has no code or a delegation that is replaced now; otherwise its code checks (ERC-1271). */
export const signsByKey = ({ code }: AccountFacts, given: Authorization | undefined, deployment: Deployment): boolean =>
  code === "" || (given !== undefined && code.startsWith(DELEGATION) && !isDelegated(code, deployment));

const unsigned = (detail: string): Problem => new Problem("unauthenticated", { detail });

/**
 * Null if no authorization is given, or if the account needs none. Checks every field, because the chain skips a wrong
 * authorization without an error.
 */
export async function requireAuthorization(
  given: Authorization | undefined,
  { code, transactions }: AccountFacts,
  account: Hex,
  deployment: Deployment,
): Promise<StoredAuthorization | null> {
  if (given === undefined || isDelegated(code, deployment)) return null;
  const at = (field: string, detail: string): Problem => invalidField(`/authorization/${field}`, detail);
  if (code !== "" && !code.startsWith(DELEGATION))
    throw at("address", "The mandate's wallet is a contract, which cannot delegate.");
  if (lower(given.address) !== lower(deployment.smartPaymentAccount))
    throw at("address", `The service's smart account is ${deployment.smartPaymentAccount}.`);
  if (given.chainId !== chainIdOf(deployment.chain)) throw at("chainId", `The chain's id is ${chainIdOf(deployment.chain)}.`);
  if (given.nonce !== transactions) throw at("nonce", `The account's transaction count is ${transactions}.`);
  const authorization = { ...given, address: lower(given.address), r: given.r as Hex, s: given.s as Hex };
  if (!(await isSignedBy(account, authorization)))
    throw unsigned("The authorization to delegate was not signed by the mandate's wallet.");
  return authorization;
}

async function isSignedBy(account: Hex, authorization: StoredAuthorization): Promise<boolean> {
  const { r, s, yParity } = authorization;
  const signature: Hex = `${r}${s.slice(2)}${yParity === 0 ? "1b" : "1c"}`;
  return isCanonicalSignature(signature) && signedByKey(account, hashAuthorization(authorization), signature);
}

async function isSigned(registering: RegisterCall, signature: Hex, byKey: boolean): Promise<boolean> {
  const { account } = registering.terms;
  const hash = registrationDigest(registering);
  if (!byKey) return acceptedByCode(registering.chain, account, hash, signature);
  return isCanonicalSignature(signature) && signedByKey(account, hash, signature);
}

/** Only the signed data says whether the mandate pays by proofs or by the module, so each candidate is tried. */
export async function requireSigned(candidates: readonly RegisterCall[], signature: Hex, byKey: boolean): Promise<RegisterCall> {
  for (const candidate of candidates) if (await isSigned(candidate, signature, byKey)) return candidate;
  throw unsigned(
    "This is not the signature of the mandate's wallet for its terms, or there is no such mandate. Read the terms again with prepareRegistration, and sign exactly them.",
  );
}

const refusals: Readonly<Record<string, () => Problem>> = {
  DeadlinePassed: () => invalidField("/deadline", "The deadline has passed by the chain's clock. Sign again with a new one."),
  NonceUsed: nonceReused,
  AlreadyRegistered: () =>
    new Problem("conflict", {
      detail:
        "This version of the mandate was registered or revoked on chain before. Save the mandate again, and register that version.",
    }),
  InvalidSignature: () => unsigned("The registry does not accept the signature as the mandate's wallet's."),
  InvalidTerms: () =>
    new Problem("conflict", {
      detail: "The registry does not accept these limits. Change the mandate, and register that version.",
    }),
};

/** Simulates the registration. @throws Problem if the registry would refuse it; viem's error if the chain does not answer */
export async function requireAccepted(
  registry: Hex,
  registering: RegisterCall,
  signature: Hex,
  authorization: StoredAuthorization | null,
): Promise<void> {
  try {
    await publicClient(registering.chain).simulateContract({
      address: registry,
      abi: registryAbi,
      functionName: "registerMandate",
      args: registrationArgs(registering, signature),
      ...(authorization && { authorizationList: [authorization] }),
    });
  } catch (error) {
    if (chainIsSilent(error)) throw error;
    const named = (cause: unknown) => cause instanceof Error && cause.name === "ContractFunctionRevertedError";
    const reverted = isChainError(error) ? error.walk(named) : null;
    const name = (reverted as ContractFunctionRevertedError | null)?.data?.errorName;
    throw (
      refusals[name ?? ""]?.() ??
      new Problem("conflict", {
        detail: "The registry refuses the registration, without saying why. Read what to sign again, and sign that.",
      })
    );
  }
}
