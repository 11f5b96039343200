import { hashTypedData, parseAbi, type Hex } from "viem";
import { chainIdOf } from "#lib/chains/chains.ts";
import type { RegistrationTerms } from "#lib/onchain/registry/registration-terms.ts";

const terms =
  "struct Terms { address account; address payee; address token; uint128 perPaymentLimit; uint128 periodLimit; uint40 periodSeconds; uint40 start; uint40 end; uint32 maxPaymentsPerPeriod; uint8 enforcementPath; bytes32 termsHash; }";
const usage = "struct Usage { uint40 period; uint32 payments; uint128 spent; }";

export const registryAbi = parseAbi([
  terms,
  usage,
  "function registerMandate(bytes32 mandateId, Terms terms, uint256 nonce, uint256 deadline, bytes signature)",
  "function termsOf(address account, bytes32 mandateId) view returns (Terms)",
  "function usageOf(address account, bytes32 mandateId) view returns (Usage)",
  "function revoked(address account, bytes32 mandateId) view returns (bool)",
  "function nonceUsed(address account, uint256 nonce) view returns (bool)",
  "error DeadlinePassed()",
  "error NonceUsed()",
  "error AlreadyRegistered()",
  "error InvalidTerms()",
  "error InvalidSignature()",
]);

export const registerTypes = {
  RegisterMandate: [
    { name: "mandateId", type: "bytes32" },
    { name: "account", type: "address" },
    { name: "payee", type: "address" },
    { name: "token", type: "address" },
    { name: "perPaymentLimit", type: "uint128" },
    { name: "periodLimit", type: "uint128" },
    { name: "periodSeconds", type: "uint40" },
    { name: "start", type: "uint40" },
    { name: "end", type: "uint40" },
    { name: "maxPaymentsPerPeriod", type: "uint32" },
    { name: "enforcementPath", type: "uint8" },
    { name: "termsHash", type: "bytes32" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** The data that an account signs to register a mandate. */
export type RegisterCall = {
  readonly chain: string;
  readonly registry: Hex;
  readonly onChainId: Hex;
  readonly terms: RegistrationTerms;
  readonly nonce: bigint;
  /** Seconds since 1970; after this time, the registry rejects the signature. */
  readonly deadline: bigint;
};

export const registrationTypedData = ({ chain, registry, onChainId, terms, nonce, deadline }: RegisterCall) =>
  ({
    domain: { name: "MandateRegistry", version: "1", chainId: chainIdOf(chain), verifyingContract: registry },
    types: registerTypes,
    primaryType: "RegisterMandate",
    message: { mandateId: onChainId, ...terms, nonce, deadline },
  }) as const;

export const registrationDigest = (registering: RegisterCall): Hex => hashTypedData(registrationTypedData(registering));

export const registrationArgs = ({ onChainId, terms, nonce, deadline }: RegisterCall, signature: Hex) =>
  [onChainId, terms, nonce, deadline, signature] as const;
