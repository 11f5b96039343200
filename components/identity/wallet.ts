import { ask, findWallet } from "#components/wallet/injected.ts";
import { siweStatement } from "#lib/identity/sessions/siwe-statement.ts";
import { requestAuth } from "./auth-request.ts";

/** @throws WalletRefusal, AuthRefusal */
export async function signInWithWallet({
  chainId,
  origin,
}: {
  readonly chainId: number;
  readonly origin: string;
}): Promise<void> {
  const wallet = findWallet(", or sign in another way");
  const [account] = (await ask(wallet, "eth_requestAccounts")) as readonly string[];
  // Load this code only here, because it contains a large hash function for the checksum of addresses.
  const [{ createSiweMessage }, { getAddress, stringToHex }] = await Promise.all([import("viem/siwe"), import("viem/utils")]);
  const address = getAddress(account ?? "");
  const { nonce } = await requestAuth("siwe/nonce", {});
  const message = createSiweMessage({
    address,
    chainId,
    domain: new URL(origin).host,
    uri: origin,
    version: "1",
    statement: siweStatement,
    nonce: String(nonce),
    issuedAt: new Date(),
  });
  const signature = await ask(wallet, "personal_sign", [stringToHex(message), address]);
  await requestAuth("siwe/verify", { message, signature });
}
