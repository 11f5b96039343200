import type { Network, SettleResponse } from "@x402/core/types";
import type { KeyCaller } from "#lib/http/operation.ts";
import type { SettlementRequest } from "#lib/execute/settlement-request.ts";
import { x402Reason } from "#lib/settlement/x402-reason.ts";
import type { FailureCode } from "#lib/x402/failure.ts";
import { networkOfChain } from "#lib/x402/version-1.ts";

/** The caller that asks this service to settle: a service account of the organization that is paid. */
export type Seller = KeyCaller;

/** The fields that all replies have. A server that uses x402 version 1 expects the name that the network has in version 1. */
const base = ({ credential: { chain, payer, version1 } }: SettlementRequest) => ({
  network: ((version1 && networkOfChain(chain)) ?? chain) as Network,
  payer,
});

export const refused = (asked: SettlementRequest, code: FailureCode, errorMessage?: string): SettleResponse => ({
  ...base(asked),
  success: false,
  errorReason: x402Reason(code),
  ...(errorMessage !== undefined && { errorMessage }),
  transaction: "",
});

export const pending = (asked: SettlementRequest, transaction: string | null): SettleResponse => ({
  ...base(asked),
  success: false,
  errorReason: "settlement_pending",
  transaction: transaction ?? "",
});

export const succeeded = (asked: SettlementRequest, transaction: string): SettleResponse => ({
  ...base(asked),
  success: true,
  transaction,
});
