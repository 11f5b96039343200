import { getAddress } from "viem";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { lower } from "#lib/evm.ts";
import { countsIn } from "#lib/mandates/policy/compile-policy.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { formatAmount } from "#lib/money.ts";
import { assetAt, assetOf, chainOf } from "#lib/chains/chains.ts";
import { explorerUrl } from "#lib/chains/network-name.ts";
import { deploymentAt } from "#lib/onchain/registry/deployments.ts";
import { periodAt } from "#lib/onchain/registry/periods.ts";
import { readBudget, type ChainBudget } from "#lib/onchain/registry/read-budget.ts";
import { registrationsOf, takenNonceSlots, type RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { onChainIdOf, PATHS } from "#lib/onchain/registry/registration-terms.ts";
import { toWire } from "#lib/time.ts";

export type RegistrationStatus = "submitted" | "registered" | "failed";
export type Revocation = "none" | "requested" | "sent" | "revoked";

/** Amounts are decimal text in the asset, times are RFC 3339. */
export type RegistrationView = {
  readonly registrationId: string;
  readonly version: number;
  readonly status: RegistrationStatus;
  readonly failure: string | null;
  readonly revocation: Revocation;
  readonly account: string;
  readonly payee: string;
  readonly onChainId: string;
  readonly asset: string;
  readonly perPayment: string;
  readonly budget: string;
  readonly periodSeconds: number;
  readonly payments: number;
  readonly start: string;
  readonly end: string;
  readonly path: "proofs" | "module";
  readonly transaction: { readonly hash: string; readonly href: string | null } | null;
  readonly submittedAt: string;
};

export type OnChainView = {
  readonly chain: string;
  readonly registry: string;
  readonly token: { readonly asset: string; readonly decimals: number };
  /** The contract that the mandate's wallet must delegate to. */
  readonly implementation: string;
  /** Of the current version of the mandate; a failed one only if every registration of this version failed. */
  readonly current: RegistrationView | null;
  /** Registrations of earlier versions that did not fail, newest first; at most five. */
  readonly earlier: readonly RegistrationView[];
};

const EARLIER_MAX = 5;

const transactionOf = ({ chain, txHash }: RegistrationRow): RegistrationView["transaction"] =>
  txHash === null ? null : { hash: txHash, href: explorerUrl(chainOf(chain), `tx/${txHash}`) };

const fromSeconds = (seconds: number): string => toWire(new Date(seconds * 1_000));

function present(row: RegistrationRow): RegistrationView {
  const token = assetAt(row.chain, row.token);
  const text = (amount: bigint): string => formatAmount(amount, token?.tokenDecimals ?? 0);
  return {
    registrationId: row.registrationId,
    version: row.version,
    status: row.status as RegistrationStatus,
    failure: row.failure,
    revocation: row.revocation as Revocation,
    account: getAddress(row.account),
    payee: getAddress(row.payee),
    onChainId: row.onChainId,
    asset: token?.asset ?? "units",
    perPayment: text(row.perPaymentLimit),
    budget: text(row.periodLimit),
    periodSeconds: row.periodSeconds,
    payments: row.maxPaymentsPerPeriod,
    start: fromSeconds(row.start),
    end: fromSeconds(row.end),
    path: row.enforcementPath === PATHS.proofs ? "proofs" : "module",
    transaction: transactionOf(row),
    submittedAt: toWire(row.createdAt),
  };
}

/** Null with a unit, if the chain has no contracts, or if the asset is not configured. The caller must have checked the organization. */
export async function viewOnChain({ mandateId, version, policy }: Mandate): Promise<OnChainView | null> {
  const { chain, asset } = countsIn(policy);
  const deployment = deploymentAt(chain);
  const token = assetOf(chain, asset);
  if (deployment === null || token === null) return null;
  const rows = await registrationsOf(database(), { mandateId, chain, registry: lower(deployment.mandateRegistry) });
  const now = rows.filter((row) => row.onChainId === onChainIdOf(mandateId, version));
  const current = now.find(({ status }) => status !== "failed") ?? now[0];
  const earlier = rows.filter((row) => row !== current && row.version !== version && row.status !== "failed");
  return {
    chain,
    token: { asset, decimals: token.tokenDecimals },
    registry: deployment.mandateRegistry,
    implementation: deployment.smartPaymentAccount,
    current: current ? present(current) : null,
    earlier: earlier.slice(0, EARLIER_MAX).map(present),
  };
}

export type BudgetView = {
  readonly chain: ChainBudget | null;
  readonly period: { readonly start: string; readonly end: string } | null;
  /** In the current period, by the service's own records. */
  readonly here: { readonly payments: number; readonly amount: string };
};

/** Null if the registration is not among the mandate's 50 newest. */
export async function viewBudget(mandateId: string, registrationId: string): Promise<BudgetView | null> {
  const rows = await registrationsOf(database(), { mandateId });
  const row = rows.find((one) => one.registrationId === registrationId);
  if (!row) return null;
  const current = periodAt(row, await clock(database()));
  const period = current?.period ?? null;
  const taken = period === null ? { payments: 0, amount: 0n } : await takenNonceSlots(database(), registrationId, period);
  const decimals = assetAt(row.chain, row.token)?.tokenDecimals ?? 0;
  return {
    chain: await readBudget(row, period),
    period: current && {
      start: fromSeconds(row.start + current.period * row.periodSeconds),
      end: fromSeconds(current.ends),
    },
    here: { payments: taken.payments, amount: formatAmount(taken.amount, decimals) },
  };
}
