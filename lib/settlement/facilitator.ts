import { x402Facilitator } from "@x402/core/facilitator";
import { HTTPFacilitatorClient } from "@x402/core/http";
import type { Network, PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { createWalletClient, publicActions } from "viem";
import { env } from "#lib/env.ts";
import { POLLING_MS, transport, viemChain } from "#lib/onchain/client.ts";
import { perProcess } from "#lib/process.ts";
import { confirmationTimeoutMs, facilitatorTimeoutMs } from "#lib/settlement/limits.ts";
import { pendingSettlementStore } from "#lib/settlement/store.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";

/** Who submits a credential: ourselves, or a facilitator that the configuration names. */
export type Facilitator = {
  /** A refusal of our own facilitator is knowledge: it broadcast nothing. One of another's is only its word. */
  readonly trusted: boolean;
  settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<SettleResponse>;
};

type Supported = ReturnType<x402Facilitator["getSupported"]>;

/** Registered chain by chain: a list of two would accept every chain there is. */
const ownFacilitator = (): x402Facilitator =>
  perProcess("facilitator", () => {
    const facilitator = new x402Facilitator();
    for (const { chain } of env().CHAINS) {
      const wallet = createWalletClient({
        account: settlementAccount(),
        chain: viemChain(chain),
        transport: transport(chain),
        pollingInterval: POLLING_MS,
      });
      const client = wallet.extend(publicActions);
      const signer = toFacilitatorEvmSigner(
        { ...client, address: client.account.address } as unknown as Parameters<typeof toFacilitatorEvmSigner>[0],
        { confirmationTimeoutMs: confirmationTimeoutMs() },
      );
      facilitator.register(chain as Network, new ExactEvmScheme(signer, { pendingSettlementStore, simulateInSettle: true }));
    }
    return facilitator;
  });

export const supportedKinds = (): Supported => ownFacilitator().getSupported();

const inProcess: Facilitator = {
  trusted: true,
  settle: (payload, requirements) => ownFacilitator().settle(payload, requirements),
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
