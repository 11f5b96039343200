import { SaidError } from "#components/ui/said-error.ts";

/** The part of an EIP-1193 wallet that the pages use. */
export type Wallet = { request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown> };
type Announcement = CustomEvent<{ readonly provider: Wallet }>;

/** There is no wallet, or it did not do what the page asked for. */
export class WalletRefusal extends SaidError {}
/** The wallet does not support the method, or does not allow pages to use it. */
export class WalletCannot extends WalletRefusal {}

/** The first wallet announced by EIP-6963, or else `window.ethereum`, which any extension may replace. @throws WalletRefusal */
export function findWallet(otherwise: string): Wallet {
  const announced: Wallet[] = [];
  const note = (event: Event) => void announced.push((event as Announcement).detail.provider);
  window.addEventListener("eip6963:announceProvider", note);
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  window.removeEventListener("eip6963:announceProvider", note);
  const wallet = announced[0] ?? (window as { readonly ethereum?: Wallet }).ethereum;
  if (!wallet) throw new WalletRefusal(`This browser has no wallet. Open the page where your wallet is${otherwise}.`);
  return wallet;
}

const REJECTED = 4001;
/** Wallets use different codes of EIP-1193, EIP-1474 and JSON-RPC for a method that they do not support or do not allow. */
const unknown: ReadonlySet<unknown> = new Set([4200, 4100, -32_601, -32_004]);

/** @throws WalletRefusal, or its subclass WalletCannot */
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
