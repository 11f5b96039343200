import { HTTPFacilitatorClient } from "@x402/core/http";
import type { Network, PaymentPayload, PaymentRequirements, SettleResponse, SupportedResponse } from "@x402/core/types";
import type { Hex, TransactionReceipt } from "viem";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";
import { facilitatorTimeoutMs } from "#lib/settlement/limits.ts";
import { settleHere } from "#lib/settlement/sending/settle-here.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { networkOfChain } from "#lib/x402/version-1.ts";

/** The service's own facilitator stores here the hash of the transaction that it sent, and the receipt if it succeeded. */
export type Progress = { transaction: Hex | null; receipt: TransactionReceipt | null };

/** A facilitator, which submits signed payments to the chain: the service's own, or an external one from the configuration. */
export type Facilitator = {
  /**
   * True for the service's own facilitator, whose refusal proves that nothing was sent, unless it names a
   * transaction or an unexpected error. A refusal by an external facilitator proves nothing.
   */
  readonly trusted: boolean;
  settle(payload: PaymentPayload, requirements: PaymentRequirements, seen: Progress): Promise<SettleResponse>;
};

/**
 * `extra` says whether a payment without a mandate is reported as settled at its receipt or after its confirmations, the smallest
 * payment in whole units of its token, and how the token is paid: `exact` has other ways that this service does not settle.
 */
export function supportedKinds(): SupportedResponse {
  const version2 = env().CHAINS.map(({ chain, confirmations, settledAt }) => ({
    x402Version: 2,
    scheme: "exact",
    network: chain as Network,
    extra: {
      settledAt: settledAt ?? "confirmations",
      confirmations,
      minimumAmount: env().SETTLEMENT_MINIMUM,
      assetTransferMethods: ["eip3009"],
    },
  }));
  const version1 = version2.flatMap((kind) => {
    const network = networkOfChain(kind.network);
    return network === undefined ? [] : [{ ...kind, x402Version: 1, network: network as Network }];
  });
  return { kinds: [...version2, ...version1], extensions: [], signers: { "eip155:*": [settlementAccount().address] } };
}

const inProcess: Facilitator = { trusted: true, settle: settleHere };

function remote(url: string): Facilitator {
  const configured = env().FACILITATORS?.find((entry) => entry.url === url);
  if (!configured) throw new Error("A facilitator that the configuration does not name.");
  const headers: Record<string, string> = configured.authorization ? { Authorization: configured.authorization } : {};
  const client = new HTTPFacilitatorClient({
    url,
    timeoutMs: facilitatorTimeoutMs(),
    createAuthHeaders: () => Promise.resolve({ verify: headers, settle: headers, supported: headers }),
  });
  return { trusted: false, settle: (payload, requirements) => client.settle(payload, requirements) };
}

/** The facilitator for a stored facilitatorUrl; null means the service's own. */
export const facilitatorFor = (url: string | null): Facilitator =>
  url === null ? inProcess : perProcess(`settlement/facilitator ${url}`, () => remote(url));
