import { SaidError } from "#components/ui/said-error.ts";

/** EIP-1193, as far as pages need it. */
export type Wallet = { request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown> };
type Announcement = CustomEvent<{ readonly provider: Wallet }>;

/** Why there is no answer of the wallet, in words for the person. */
export class WalletRefusal extends SaidError {}
/** The wallet does not know the method, or does not let pages use it. */
export class WalletCannot extends WalletRefusal {}

/** A wallet says that it is there when it is asked (EIP-6963); older ones stand on the window. @throws WalletRefusal */
export function findWallet(otherwise: string): Wallet {
  const announced: Wallet[] = [];
  const note = (event: Event) => void announced.push((event as Announcement).detail.provider);
  window.addEventListener("eip6963:announceProvider", note);
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  window.removeEventListener("eip6963:announceProvider", note);
  const wallet = (window as { readonly ethereum?: Wallet }).ethereum ?? announced[0];
  if (!wallet) throw new WalletRefusal(`This browser has no wallet. Open the page where your wallet is${otherwise}.`);
  return wallet;
}

const REJECTED = 4001;
/** Of EIP-1193 and JSON-RPC: not supported, not authorized, no such method. Wallets disagree on which they mean. */
const unknown: ReadonlySet<unknown> = new Set([4200, 4100, -32_601, -32_004]);

/** @throws WalletRefusal, WalletCannot */
export async function ask(wallet: Wallet, method: string, params: readonly unknown[] = []): Promise<unknown> {
  try {
    return await wallet.request({ method, params });
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (code === REJECTED) throw new WalletRefusal("You declined in the wallet. Nothing happened.");
    if (unknown.has(code)) throw new WalletCannot("The wallet does not offer this to pages.");
    throw new WalletRefusal("The wallet did not answer as expected.");
  }
}
