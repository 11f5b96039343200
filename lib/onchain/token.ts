import { eip3009ABI } from "@x402/evm";
import {
  encodeFunctionData,
  hashTypedData,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  parseSignature,
  recoverAddress,
  type Hex,
} from "viem";
import { chainIsSilent, chainReverted, publicClient, ranOutOfGas } from "#lib/chains/client.ts";
import { lower } from "#lib/evm.ts";
import type { Credential } from "#lib/x402/credential.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";
import { isCanonicalSignature, type ChainFacts } from "#lib/x402/verify.ts";

export const tokenAbi = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

/** A transfer by a proof needs about a quarter of this gas. The service itself sends no transfer that needs more. */
export const SETTLEMENT_MAX_GAS = 500_000n;
export const TOO_MUCH_GAS = "The payer's account needs too much gas. Pay from another wallet.";

const erc1271Abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
const ERC1271_MAGIC = "0x1626ba7e";

export const transferTypes = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** The token, amount and payee come from the expected payment; only payer, validity and nonce come from the credential. */
export const digestOf = (
  { asset, amount, payTo }: ExpectedPayment,
  { payer, validAfter, validBefore, nonce }: Pick<Credential, "payer" | "validAfter" | "validBefore" | "nonce">,
): Hex =>
  hashTypedData({
    domain: { name: asset.tokenName, version: asset.tokenVersion, chainId: asset.chainId, verifyingContract: asset.tokenAddress },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message: { from: payer, to: payTo, value: amount, validAfter, validBefore, nonce },
  });

/** Whether the account's key made the signature. Also true if the signature is not in canonical form. */
export async function signedByKey(account: string, hash: Hex, signature: Hex): Promise<boolean> {
  try {
    return lower(await recoverAddress({ hash, signature })) === account;
  } catch {
    return false;
  }
}

/** A wallet may wrap its signature with the calls that would deploy it (ERC-6492). Returns the signature without them. */
export function unwrapped(signature: Hex): Hex {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    return signature;
  }
}

/** Whether the signature is of a wallet that is not deployed, so that nobody can check it and the token refuses it. */
export const isUndeployed = async ({ payer, signature }: Credential, chain: string): Promise<boolean> =>
  isErc6492Signature(signature) && isEmpty(await publicClient(chain).getCode({ address: payer }));

const isEmpty = (code: string | undefined): boolean => code === undefined || code === "0x";

/** Whether an account's code accepts this signature (ERC-1271). @throws if the chain does not answer */
export async function acceptedByCode(chain: string, account: Hex, hash: Hex, signature: Hex): Promise<boolean> {
  try {
    const magic = await publicClient(chain).readContract({
      address: account,
      abi: erc1271Abi,
      functionName: "isValidSignature",
      args: [hash, signature],
    });
    return magic === ERC1271_MAGIC;
  } catch (error) {
    if (chainIsSilent(error)) throw error;
    return false;
  }
}

/** As in USDC 2.2, an account with code (also by EIP-7702) is checked only by ERC-1271. */
async function signedByPayer(credential: Credential, expected: ExpectedPayment, code: string | undefined): Promise<boolean> {
  const digest = digestOf(expected, credential);
  const { payer } = credential;
  const signature = unwrapped(credential.signature);
  if (isEmpty(code)) return isCanonicalSignature(signature) && signedByKey(payer, digest, signature);
  return acceptedByCode(expected.asset.chain, payer, digest, signature);
}

export const balanceOf = (chain: string, tokenAddress: Hex, account: Hex): Promise<bigint> =>
  publicClient(chain).readContract({ address: tokenAddress, abi: tokenAbi, functionName: "balanceOf", args: [account] });

/** A canonical signature of 65 bytes is passed as v, r and s, and any other signature as bytes. */
export function transferCall({ amount, payTo }: ExpectedPayment, credential: Credential): Hex {
  const { payer, validAfter, validBefore, nonce } = credential;
  const signature = unwrapped(credential.signature);
  const transfer = [payer, payTo, amount, validAfter, validBefore, nonce] as const;
  const call = { abi: eip3009ABI, functionName: "transferWithAuthorization" } as const;
  if (!isCanonicalSignature(signature)) return encodeFunctionData({ ...call, args: [...transfer, signature] });
  const { r, s, yParity } = parseSignature(signature);
  return encodeFunctionData({ ...call, args: [...transfer, yParity + 27, r, s] });
}

/** Whether the token would make this transfer now. `gas` null means the node's limit. @throws if the chain does not answer */
export async function wouldTransfer(
  credential: Credential,
  expected: ExpectedPayment,
  gas: bigint | null = SETTLEMENT_MAX_GAS,
): Promise<boolean> {
  const { chain, tokenAddress } = expected.asset;
  try {
    await publicClient(chain).call({ to: tokenAddress, data: transferCall(expected, credential), ...(gas !== null && { gas }) });
    return true;
  } catch (error) {
    if (chainReverted(error) || ranOutOfGas(error)) return false;
    throw error;
  }
}

/** Reads the facts that decide whether a signed payment is valid. @throws if the chain does not answer */
export async function readChainFacts(credential: Credential, expected: ExpectedPayment): Promise<ChainFacts> {
  const client = publicClient(expected.asset.chain);
  const token = { address: expected.asset.tokenAddress, abi: tokenAbi } as const;
  const [code, nonceUsed, balance] = await Promise.all([
    client.getCode({ address: credential.payer }),
    client.readContract({ ...token, functionName: "authorizationState", args: [credential.payer, credential.nonce] }),
    client.readContract({ ...token, functionName: "balanceOf", args: [credential.payer] }),
  ]);
  return { nonceUsed, balance, signatureValid: await signedByPayer(credential, expected, code) };
}
