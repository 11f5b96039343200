import { HTTPFacilitatorClient } from "@x402/core/http";
import type { Network, PaymentPayload, PaymentRequirements, SettleResponse, SupportedResponse } from "@x402/core/types";
import type { Hex, TransactionReceipt } from "viem";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";
import { facilitatorTimeoutMs } from "#lib/settlement/limits.ts";
import { settleHere } from "#lib/settlement/settle-here.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { networkOfChain } from "#lib/x402/version-1.ts";

/** Progress of a settlement by our own facilitator. The caller reads it if the answer comes after the timeout. */
export type Progress = { transaction: Hex | null; receipt: TransactionReceipt | null };

/** A service that submits credentials to the chain: our own facilitator, or an external one from the configuration. */
export type Facilitator = {
  /**
   * True for our own facilitator. Its refusal proves that no transaction with this call is stored. A refusal by an external facilitator
   * proves nothing.
   */
  readonly trusted: boolean;
  settle(payload: PaymentPayload, requirements: PaymentRequirements, seen: Progress): Promise<SettleResponse>;
};

/**
 * The kinds of payments that we settle: each chain in x402 version 2, and also in version 1 if the chain has a name there. `extra` says
 * when we answer that a payment without a mandate is settled.
 */
export function supportedKinds(): SupportedResponse {
  const version2 = env().CHAINS.map(({ chain, confirmations, settledAt }) => ({
    x402Version: 2,
    scheme: "exact",
    network: chain as Network,
    extra: { settledAt: settledAt ?? "confirmations", confirmations },
  }));
  const version1 = version2.flatMap((kind) => {
    const network = networkOfChain(kind.network);
    return network === undefined ? [] : [{ ...kind, x402Version: 1, network: network as Network }];
  });
  return { kinds: [...version2, ...version1], extensions: [], signers: { "eip155:*": [settlementAccount().address] } };
}

const inProcess: Facilitator = {
  trusted: true,
  settle: settleHere,
};

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

/** The facilitator behind a stored facilitatorUrl; null means our own. */
export const facilitatorFor = (url: string | null): Facilitator =>
  url === null ? inProcess : perProcess(`facilitator ${url}`, () => remote(url));
