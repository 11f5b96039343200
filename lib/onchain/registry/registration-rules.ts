import type { Hex } from "viem";
import { env } from "#lib/env.ts";
import { lower } from "#lib/evm.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { withMandatePages } from "#lib/mandates/mandate-links.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { statusOf } from "#lib/mandates/policy/status.ts";
import { assetOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { deploymentAt, type Deployment } from "#lib/onchain/registry/deployments.ts";
import type { RegisterBody } from "#lib/onchain/registry/registration-contract.ts";
import {
  admitsPayee,
  deriveTerms,
  onChainIdOf,
  type DerivedTerms,
  type PathName,
  type RegistrationTerms,
} from "#lib/onchain/registry/registration-terms.ts";
import { invalidField, Problem, type FieldError, type NextAction } from "#lib/problem.ts";
import type { MandateStatus, StoredMandateStatus } from "#lib/vocabulary.ts";
import { commonActions } from "#lib/next-actions.ts";

export type RegistrableMandate = MandateRow & {
  /** When its current version was written. */
  readonly writtenAt: Date;
};

/** The maximum number of seconds from now until the deadline of a signature. */
export const DEADLINE_MAX_SECONDS = 3_600;

const linked = (mandateId: string, action: NextAction): NextAction[] => withMandatePages([action], env().BASE_URL, mandateId);

export function requireDeployment(chain: string, pointer: string): Deployment {
  const deployment = deploymentAt(chain);
  if (deployment === null) throw invalidField(pointer, `No contracts of mandates are configured for the chain ${chain}.`);
  return deployment;
}

const inWords: Readonly<Record<Exclude<MandateStatus, "active">, string>> = {
  draft: "It is a draft, which a person activates first.",
  suspended: "It is paused, and a person resumes it first.",
  revoked: "It was revoked.",
  expired: "It has expired.",
  exhausted: "Its total is used up.",
};

/** A contract keeps the limits of one token, and knows no rates. */
export function requireOneToken({ mandateId, policy: { unit } }: RegistrableMandate): void {
  if (unit === undefined) return;
  throw new Problem("conflict", {
    detail: `The mandate counts in ${unit}, and a contract keeps the limits of one token. Only a mandate in one token can be registered.`,
    nextActions: linked(mandateId, commonActions.createMandate),
  });
}

export function requireActive(mandate: RegistrableMandate, now: Date): void {
  const policy = compilePolicy(mandate.policy, decimalsOf(mandate));
  const status = statusOf(mandate.status as StoredMandateStatus, policy, mandate, now);
  if (status === "active") return;
  const nextActions = status === "suspended" ? linked(mandate.mandateId, commonActions.resumeMandate) : [];
  const detail = `Only an active mandate can be registered. ${inWords[status]}`;
  if (status === "revoked") throw new Problem("mandate_revoked", { detail });
  throw new Problem("mandate_not_active", { detail, nextActions });
}

/** The deadline is in seconds since 1970. */
export function requireDeadline(deadline: number, now: Date): void {
  const left = deadline * 1_000 - now.getTime();
  if (left <= 0) throw invalidField("/deadline", "The deadline has passed. Sign again with a new one.");
  if (left > DEADLINE_MAX_SECONDS * 1_000) throw invalidField("/deadline", "The deadline is more than an hour ahead.");
}

type Token = Pick<RegisterBody, "tokenAddress" | "tokenName" | "tokenVersion" | "tokenDecimals">;

export function requireToken(said: Token, asset: AssetOnChain): void {
  const errors: FieldError[] = [];
  const differs = (name: keyof Token, configured: unknown) =>
    errors.push({ pointer: `/${name}`, detail: `The configured token has ${String(configured)} here.` });
  if (said.tokenAddress !== undefined && lower(said.tokenAddress) !== asset.tokenAddress)
    differs("tokenAddress", asset.tokenAddress);
  for (const name of ["tokenName", "tokenVersion", "tokenDecimals"] as const)
    if (said[name] !== undefined && said[name] !== asset[name]) differs(name, asset[name]);
  if (errors.length === 0) return;
  throw new Problem("invalid_request", { detail: "The token differs from the configured one.", errors });
}

export function requireAsset(mandate: RegistrableMandate, chain: string, pointer: string): AssetOnChain {
  if (mandate.chain !== chain) throw invalidField(pointer, `The mandate pays on ${mandate.chain}.`);
  const asset = assetOf(mandate.chain, mandate.asset);
  if (asset === null) throw new Error(`${mandate.asset} on ${mandate.chain} is no longer configured, but a mandate pays in it.`);
  return asset;
}

export function requireWallet({ mandateId, walletAddress }: RegistrableMandate): Hex {
  if (walletAddress !== null) return lower(walletAddress);
  throw new Problem("conflict", {
    detail: "The mandate names no wallet. Its wallet is the account that signs and pays.",
    nextActions: linked(mandateId, { type: "connect_wallet", label: "Name the wallet" }),
  });
}

export type Registrable = {
  readonly mandate: RegistrableMandate;
  readonly asset: AssetOnChain;
  readonly account: Hex;
  /** In lower case. */
  readonly payee: Hex;
};

/** Does not check that the policy allows the payee. */
export const termsFor = ({ mandate: { policy, writtenAt }, asset, account, payee }: Registrable, path: PathName): DerivedTerms =>
  deriveTerms({ policy, writtenAt, decimals: asset.tokenDecimals, account, payee, token: asset.tokenAddress, path });

/** @throws Problem policy_denied for a payee that the policy forbids; conflict for limits that cannot be registered now */
export function requireTerms(what: Registrable, path: PathName, now: Date): RegistrationTerms {
  const { asset, payee } = what;
  const { policy, mandateId } = what.mandate;
  if (!admitsPayee(policy, asset.tokenDecimals, payee))
    throw new Problem("policy_denied", { detail: "The mandate's policy does not let this address be paid." });
  const derived = termsFor(what, path);
  const nextActions = linked(mandateId, { type: "renew_mandate", label: "Change the mandate" });
  if (!derived.ok) throw new Problem("conflict", { detail: `The mandate cannot be registered. ${derived.detail}`, nextActions });
  if (derived.terms.end * 1_000 <= now.getTime()) {
    throw new Problem("conflict", {
      detail: "The time of this version of the mandate on chain has ended. Save the mandate again, and register that version.",
      nextActions,
    });
  }
  return derived.terms;
}

export const onChainIdNow = ({ mandateId, version }: RegistrableMandate): Hex => onChainIdOf(mandateId, version);

export function alreadyRegistered(version: number): Problem {
  return new Problem("conflict", {
    detail: `Version ${version} of the mandate is registered for this wallet already, or on its way. Every version is registered once: save the mandate again to register a new one.`,
  });
}

export const nonceReused = (): Problem =>
  new Problem("nonce_reused", { detail: "The wallet has used this nonce before. Sign again with a new one." });
