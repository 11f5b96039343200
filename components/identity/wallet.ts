import { siweStatement } from "#lib/identity/siwe-statement.ts";
import { requestAuth } from "./auth-request.ts";

/** EIP-1193, as far as signing in needs it. */
type Wallet = { request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown> };
type Announcement = CustomEvent<{ readonly provider: Wallet }>;

/** Why there is no signature, in words for the person. */
export class WalletRefusal extends Error {}

/** A wallet says that it is there when it is asked (EIP-6963); older ones stand on the window. */
function findWallet(): Wallet {
  const announced: Wallet[] = [];
  const note = (event: Event) => void announced.push((event as Announcement).detail.provider);
  window.addEventListener("eip6963:announceProvider", note);
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  window.removeEventListener("eip6963:announceProvider", note);
  const wallet = (window as { readonly ethereum?: Wallet }).ethereum ?? announced[0];
  if (!wallet) throw new WalletRefusal("This browser has no wallet. Open the page where your wallet is, or sign in another way.");
  return wallet;
}

const REJECTED = 4001;

async function ask(wallet: Wallet, method: string, params: readonly unknown[] = []): Promise<unknown> {
  try {
    return await wallet.request({ method, params });
  } catch (error) {
    const rejected = (error as { code?: unknown } | null)?.code === REJECTED;
    throw new WalletRefusal(
      rejected ? "You declined in the wallet. Nothing happened." : "The wallet did not answer as expected.",
    );
  }
}

/** Asks the wallet for its account and for a signature of our message, and signs in by it. @throws WalletRefusal, AuthRefusal */
export async function signInWithWallet({
  chainId,
  origin,
}: {
  readonly chainId: number;
  readonly origin: string;
}): Promise<void> {
  const wallet = findWallet();
  const [account] = (await ask(wallet, "eth_requestAccounts")) as readonly string[];
  // Loaded when somebody needs it: hashing for the address's checksum is most of it.
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
