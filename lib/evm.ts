import type { Hex } from "viem";
import { z } from "zod";

/* Schemas of addresses, chains and assets. Browsers load this file too, so it imports no server code. */

export const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** 32 bytes, such as a hash, a nonce of EIP-3009 or a private key. */
export const BYTES32 = /^0x[0-9a-fA-F]{64}$/;

export const Address = z.string().regex(ADDRESS, "Write the address as 0x and 40 hexadecimal digits.");
export const ChainName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]{3,8}:[A-Za-z0-9_-]{1,32}$/, "Write the chain as CAIP-2, such as eip155:84532.");
export const AssetSymbol = z.string().regex(/^[A-Z0-9.]{1,16}$/, "Write the asset's symbol, such as USDC.");

/** For comparisons, because most stored addresses and hashes are in lower case. */
export const lower = (text: string): Hex => text.toLowerCase() as Hex;
