import { randomBytes } from "node:crypto";
import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import { recoverMessageAddress, type Address } from "viem";
import { env } from "#lib/env.ts";
import { siweChainId } from "#lib/identity/sessions/auth-methods.ts";
import { siweStatement } from "#lib/identity/sessions/siwe-statement.ts";
import { completeWallet } from "#lib/identity/user-store.ts";

/** 128 bits; ERC-4361 wants letters and digits. */
export const siweNonce = (): Promise<string> => Promise.resolve(randomBytes(16).toString("hex"));

type Signed = { readonly message: string; readonly signature: string; readonly address: string };

/**
 * Whether the wallet of a plain account signed our message and no other: this site, the configured chain, our words. Everything but
 * address, nonce and times is fixed, so the message is made again and compared as text. better-auth has checked nonce and domain.
 */
export async function verifyWallet({ message, signature, address }: Signed): Promise<boolean> {
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
  const signer = await recoverMessageAddress({ message, signature: signature as `0x${string}` });
  if (signer !== address) return false;
  await completeWallet(address, chainId);
  return true;
}

/** How an account of a wallet is called until its person changes it. */
export const walletName = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;
