import type { Hex } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

function readKey(): Hex {
  const { SETTLEMENT_PRIVATE_KEY } = env();
  if (!SETTLEMENT_PRIVATE_KEY) throw new Error("SETTLEMENT_PRIVATE_KEY is not set.");
  return SETTLEMENT_PRIVATE_KEY as Hex;
}

/** The account of the service's own facilitator, which pays the gas. */
export const settlementAccount = (): PrivateKeyAccount => perProcess("settlement/wallet", () => privateKeyToAccount(readKey()));
