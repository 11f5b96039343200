import { x402Facilitator } from "@x402/core/facilitator";
import { HTTPFacilitatorClient } from "@x402/core/http";
import type { Network, PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { env } from "#lib/env.ts";
import { chainOf } from "#lib/onchain/chains.ts";
import { perProcess } from "#lib/process.ts";
import { facilitatorTimeoutMs } from "#lib/settlement/limits.ts";
import { facilitatorSigner, withAnswers, type Progress } from "#lib/settlement/signer.ts";
import { pendingSettlementStore } from "#lib/settlement/store.ts";
import { networkOfChain } from "#lib/x402/version-1.ts";

/** Who submits a credential: ourselves, or a facilitator that the configuration names. */
export type Facilitator = {
  /** A refusal of our own facilitator is knowledge: it broadcast nothing. One of another's is only its word. */
  readonly trusted: boolean;
  settle(payload: PaymentPayload, requirements: PaymentRequirements, seen: Progress): Promise<SettleResponse>;
};

type Supported = ReturnType<x402Facilitator["getSupported"]>;

/** Registered chain by chain: a list of two would accept every chain there is. */
const ownFacilitator = (): x402Facilitator =>
  perProcess("facilitator", () => {
    const facilitator = new x402Facilitator();
    for (const { chain } of env().CHAINS) {
      facilitator.register(
        chain as Network,
        new ExactEvmScheme(facilitatorSigner(chain), { pendingSettlementStore, simulateInSettle: true }),
      );
    }
    return facilitator;
  });

/**
 * Each chain in version 2, and in version 1 where it has a name there, with what an answer of success rests on for a payment that we hold
 * no authorization of.
 */
export function supportedKinds(): Supported {
  const { kinds, ...rest } = ownFacilitator().getSupported();
  const version2 = kinds.map((kind) => {
    const { confirmations = 0, settledAt = "confirmations" } = chainOf(kind.network) ?? {};
    return { ...kind, extra: { ...kind.extra, settledAt, confirmations } };
  });
  const version1 = version2.flatMap((kind) => {
    const network = networkOfChain(kind.network);
    return network === undefined ? [] : [{ ...kind, x402Version: 1, network: network as Network }];
  });
  return { ...rest, kinds: [...version2, ...version1] };
}

const inProcess: Facilitator = {
  trusted: true,
  settle: (payload, requirements, seen) => withAnswers(seen, () => ownFacilitator().settle(payload, requirements)),
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

/** The facilitator behind a stored facilitatorUrl; null is ours. */
export const facilitatorFor = (url: string | null): Facilitator =>
  url === null ? inProcess : perProcess(`facilitator ${url}`, () => remote(url));
