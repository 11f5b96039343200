import { chainOf } from "#lib/chains/chains.ts";
import type { RelayPurpose } from "#lib/onchain/tables.ts";

const contractFor = {
  registerMandate: "mandateRegistry",
  revokeMandate: "mandateRegistry",
  payMandate: "paymentModule",
} as const;

/** Measured: registering 201,771 and with a delegation 215,667, paying 142,752. The rest is room for accounts that check signatures by code. */
export const gasCaps: Readonly<Record<RelayPurpose, bigint>> = {
  registerMandate: 600_000n,
  revokeMandate: 120_000n,
  payMandate: 400_000n,
};

/** The one contract that a purpose may call, by the configuration of this moment. In lower case; null where there is none. */
export const targetOf = (purpose: RelayPurpose, chain: string): string | null =>
  chainOf(chain)?.contracts?.[contractFor[purpose]].toLowerCase() ?? null;

/** What accounts may delegate to in a transaction of ours. */
export const delegateOf = (chain: string): string | null => chainOf(chain)?.contracts?.smartPaymentAccount.toLowerCase() ?? null;
