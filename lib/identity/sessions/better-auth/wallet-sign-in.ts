import { randomBytes } from "node:crypto";
import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import { recoverMessageAddress, type Address, type Hex } from "viem";
import { env } from "#lib/env.ts";
import { siweChainId } from "#lib/identity/sessions/auth-methods.ts";
import { siweStatement } from "#lib/identity/sessions/siwe-statement.ts";
import { completeWallet } from "#lib/identity/user-store.ts";

/** Makes 128 random bits as hexadecimal text, because ERC-4361 allows only letters and digits. */
export const siweNonce = (): Promise<string> => Promise.resolve(randomBytes(16).toString("hex"));

type WalletSignature = { readonly message: string; readonly signature: string; readonly address: string };

/**
 * Only the address, the nonce, which better-auth has already checked, and the times may differ, so the message is built again and
 * compared as text; contract wallets, which have no key that signs, cannot sign in.
 */
export async function verifyWallet({ message, signature, address }: WalletSignature): Promise<boolean> {
  const chainId = siweChainId();
  const { nonce, issuedAt, expirationTime } = parseSiweMessage(message);
  if (chainId === null || nonce === undefined || issuedAt === undefined || !/^0x[0-9a-fA-F]{130}$/.test(signature)) return false;
  const { origin, host } = new URL(env().BASE_URL);
  const expected = createSiweMessage({
    address: address as Address,
    chainId,
    domain: host,
    uri: origin,
    version: "1",
    statement: siweStatement,
    nonce,
    issuedAt,
    ...(expirationTime && { expirationTime }),
  });
  if (message !== expected) return false;
  const signer = await recoverMessageAddress({ message, signature: signature as Hex });
  if (signer !== address) return false;
  await completeWallet(address, chainId);
  return true;
}

export const walletName = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;
