import { keccak256, type Hex } from "viem";
import { createNonceManager, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { jsonRpc } from "viem/nonce";
import { env } from "#lib/env.ts";
import { lower } from "#lib/evm.ts";
import { perProcess } from "#lib/process.ts";

function readKey(): Hex {
  const { SANDBOX_WALLET_PRIVATE_KEY } = env();
  if (!SANDBOX_WALLET_PRIVATE_KEY) throw new Error("SANDBOX_WALLET_PRIVATE_KEY is not set.");
  return SANDBOX_WALLET_PRIVATE_KEY as Hex;
}

/** Pays the sample sellers and the gas of these payments; several may be sent at once, so a nonce manager numbers them. */
export const testWallet = (): PrivateKeyAccount =>
  perProcess("sandbox/test-wallet testWallet", () =>
    privateKeyToAccount(readKey(), { nonceManager: createNonceManager({ source: jsonRpc() }) }),
  );

/** The key of this address is derived from the wallet's key, so that the operator can get the tokens back. */
export const samplePayTo = (): Hex =>
  perProcess("sandbox/test-wallet samplePayTo", () => lower(privateKeyToAccount(keccak256(readKey())).address));
