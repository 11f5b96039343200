import { afterEach, expect, test, vi } from "vitest";
import { findWallet, WalletRefusal, type Wallet } from "#components/wallet/injected.ts";

afterEach(() => vi.unstubAllGlobals());

const wallet = (): Wallet => ({ request: () => Promise.resolve(null) });

/** A window with a wallet at `window.ethereum` and wallets that announce themselves with EIP-6963. */
function openWindow(ethereum: Wallet | undefined, announced: readonly Wallet[]): void {
  const page = Object.assign(new EventTarget(), { ethereum });
  page.addEventListener("eip6963:requestProvider", () => {
    for (const provider of announced) page.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { provider } }));
  });
  vi.stubGlobal("window", page);
}

test("a wallet that announces itself is preferred to the wallet at window.ethereum, which any extension may replace", () => {
  const [injected, first, second] = [wallet(), wallet(), wallet()];
  openWindow(injected, [first, second]);
  expect(findWallet("")).toBe(first);
  openWindow(injected, []);
  expect(findWallet("")).toBe(injected);
  openWindow(undefined, []);
  expect(() => findWallet("")).toThrow(WalletRefusal);
});
