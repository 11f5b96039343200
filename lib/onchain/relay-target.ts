import { chainOf } from "#lib/chains/chains.ts";
import type { RelayPurpose } from "#lib/onchain/tables.ts";

const contractFor = {
  registerMandate: "mandateRegistry",
  revokeMandate: "mandateRegistry",
  payMandate: "paymentModule",
} as const;

/** Gas measured: 201,771 for a registration, 215,667 with a delegation, 142,752 for a payment. An account's code can add some. */
export const gasCaps: Readonly<Record<RelayPurpose, bigint>> = {
  registerMandate: 600_000n,
  revokeMandate: 120_000n,
  payMandate: 400_000n,
};

/** The only contract that a purpose may call, from the current configuration. In lower case; null if there is none. */
export const targetOf = (purpose: RelayPurpose, chain: string): string | null =>
  chainOf(chain)?.contracts?.[contractFor[purpose]].toLowerCase() ?? null;

/** The only contract that accounts may delegate to in transactions of the service. */
export const delegateOf = (chain: string): string | null => chainOf(chain)?.contracts?.smartPaymentAccount.toLowerCase() ?? null;
