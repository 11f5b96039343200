import { chainOf } from "#lib/chains/chains.ts";
import type { RelayPurpose } from "#lib/onchain/tables.ts";

const contractFor = {
  registerMandate: "mandateRegistry",
  revokeMandate: "mandateRegistry",
  payMandate: "paymentModule",
} as const;

/** Measured (bench/gas.ts): 202,000 for a registration, 216,000 with a delegation, 143,000 for a payment. Accounts differ. */
export const gasCaps: Readonly<Record<RelayPurpose, bigint>> = {
  registerMandate: 600_000n,
  revokeMandate: 120_000n,
  payMandate: 400_000n,
};

/** The only contract that a purpose may call, from the current configuration. In lower case; null if there is none. */
export const relayTargetOf = (purpose: RelayPurpose, chain: string): string | null =>
  chainOf(chain)?.contracts?.[contractFor[purpose]].toLowerCase() ?? null;

/** The only contract that accounts may delegate to in transactions of the service. */
export const delegateOf = (chain: string): string | null => chainOf(chain)?.contracts?.smartPaymentAccount.toLowerCase() ?? null;
