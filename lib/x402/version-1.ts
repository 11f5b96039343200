import { PaymentPayloadV1Schema } from "@x402/core/schemas";
import { EVM_NETWORK_CHAIN_ID_MAP } from "@x402/evm/v1";
import type { PaymentPayload } from "@x402/core/types";
import { failed, type Failure } from "#lib/x402/failure.ts";
import { requirementsOf, type ExpectedPayment } from "#lib/x402/requirements.ts";

/* Converts payments of x402 version 1 to version 2: the signed transfer is the same in both, the fields around it differ. */

const chains = new Map(Object.entries(EVM_NETWORK_CHAIN_ID_MAP).map(([network, id]) => [network, `eip155:${id}`]));
const networks = new Map([...chains].map(([network, chain]) => [chain, network]));

/** The CAIP-2 chain of a version 1 network name, such as "eip155:84532" for "base-sepolia". Undefined for an unknown name. */
export const chainOfNetwork = (network: string): string | undefined => chains.get(network);
export const networkOfChain = (chain: string): string | undefined => networks.get(chain);

export const isVersion1 = (json: object): boolean => "x402Version" in json && json.x402Version === 1;

type Conversion = { readonly ok: true; readonly payload: PaymentPayload } | ({ readonly ok: false } & Failure);

/** Version 1 has no token and no offer. The expected ones are safe, because the payer signed token, payee, amount and time. */
export function payloadFromVersion1(json: object, expected: ExpectedPayment): Conversion {
  const parsed = PaymentPayloadV1Schema.safeParse(json);
  if (!parsed.success) return failed("credential_malformed", "The payment credential is not an x402 version 1 payment payload.");
  const { scheme, network, payload } = parsed.data;
  if (scheme !== "exact") return failed("scheme_unsupported", "Only the x402 scheme exact is supported.");
  if (chainOfNetwork(network) !== expected.asset.chain)
    return failed("network_mismatch", `The credential is for ${network}, the payment is on ${expected.asset.chain}.`);
  const accepted = expected.offer?.accepted ?? requirementsOf(expected);
  return { ok: true, payload: { x402Version: 2, accepted, payload } };
}
