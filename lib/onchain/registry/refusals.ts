import { encodeAbiParameters, keccak256, parseAbi, type Hex } from "viem";
import { publicClient } from "#lib/chains/client.ts";
import { deploymentOn } from "#lib/onchain/registry/deployments.ts";
import { isDelegated } from "#lib/onchain/registry/registration-chain.ts";

const limitsAbi = parseAbi([
  "function checkPayment(address account, bytes32 mandateId, bytes32 paymentId, address token, address payee, uint256 value) view returns (uint8)",
  "function checkProof(address account, bytes32 mandateId, address token, address payee, uint256 value, uint256 validBefore, uint256 period, uint256 slot) view returns (uint8)",
]);

/** The names of MandateRegistry.Refusal, in the order of the contract's enum. */
export const registryRefusals = [
  "None",
  "Unknown",
  "Revoked",
  "NotStarted",
  "Ended",
  "OtherPath",
  "OtherPayee",
  "OtherToken",
  "ZeroValue",
  "OverPaymentLimit",
  "OtherPeriod",
  "SlotOutOfRange",
  "ExpiresAfterEnd",
  "PaymentUsed",
  "TooManyPayments",
  "OverPeriodLimit",
] as const;
export type Refusal = (typeof registryRefusals)[number];

const refusalOf = (number: number): Refusal => registryRefusals[number] ?? "Unknown";

/** A payment under a registered mandate. `value` is in atomic units of the token. */
export type RegisteredPayment = {
  readonly chain: string;
  readonly account: Hex;
  readonly onChainId: Hex;
  readonly token: Hex;
  readonly payee: Hex;
  readonly value: bigint;
};

export type ProofPlace = { readonly validBefore: number; readonly period: number; readonly slot: number };

const registryOn = (chain: string) => ({ address: deploymentOn(chain).mandateRegistry, abi: limitsAbi }) as const;

/** Asks the registry whether its limits allow a proof with this nonce slot now. @throws if the chain does not answer */
export async function checkProof(payment: RegisteredPayment, { validBefore, period, slot }: ProofPlace): Promise<Refusal> {
  const { chain, account, onChainId, token, payee, value } = payment;
  const numbers = [BigInt(validBefore), BigInt(period), BigInt(slot)] as const;
  const args = [account, onChainId, token, payee, value, ...numbers] as const;
  return refusalOf(await publicClient(chain).readContract({ ...registryOn(chain), functionName: "checkProof", args }));
}

/** Asks the registry whether its limits allow this payment by the module now. @throws if the chain does not answer */
export async function checkPayment(payment: RegisteredPayment, paymentId: Hex): Promise<Refusal> {
  const { chain, account, onChainId, token, payee, value } = payment;
  const args = [account, onChainId, paymentId, token, payee, value] as const;
  return refusalOf(await publicClient(chain).readContract({ ...registryOn(chain), functionName: "checkPayment", args }));
}

/** Whether an account delegates to the configured smart account contract now. @throws if the chain does not answer */
export async function delegatesNow(chain: string, account: Hex): Promise<boolean> {
  const code = await publicClient(chain).getCode({ address: account });
  return isDelegated((code ?? "").toLowerCase(), deploymentOn(chain));
}

/** The nonce of the token for this numbered payment of a period (slot). The token accepts each nonce once. */
export const nonceOfSlot = (onChainId: Hex, period: number, slot: number): Hex =>
  keccak256(
    encodeAbiParameters(
      [{ type: "bytes32" }, { type: "uint256" }, { type: "uint256" }],
      [onChainId, BigInt(period), BigInt(slot)],
    ),
  );
