import { ask, findWallet, WalletCannot, WalletRefusal, type Wallet } from "#components/wallet/injected.ts";
import { networkName } from "#lib/chains/network-name.ts";
import type { Authorization, PreparedRegistration } from "#lib/onchain/registry/registration-contract.ts";

const same = (a: unknown, b: string): boolean => typeof a === "string" && a.toLowerCase() === b.toLowerCase();
const hex = (value: number): string => `0x${value.toString(16)}`;

/** Switches the wallet to the mandate's network if needed. @throws WalletRefusal */
export async function connect({ account, chain, delegation }: PreparedRegistration): Promise<Wallet> {
  const wallet = findWallet("");
  const accounts = (await ask(wallet, "eth_requestAccounts")) as readonly unknown[];
  if (!accounts.some((one) => same(one, account)))
    throw new WalletRefusal(
      `The wallet shows another account. The mandate's wallet is ${account}: choose it there, and try again.`,
    );
  const chainId = hex(delegation.chainId);
  if (same(await ask(wallet, "eth_chainId"), chainId)) return wallet;
  try {
    await ask(wallet, "wallet_switchEthereumChain", [{ chainId }]);
  } catch {
    throw new WalletRefusal(`The wallet is on another network. Switch it to ${networkName(chain)} (${chain}), and try again.`);
  }
  return wallet;
}

/** @throws WalletRefusal */
export async function signLimits(wallet: Wallet, { account, typedData }: PreparedRegistration): Promise<string> {
  const signature = await ask(wallet, "eth_signTypedData_v4", [account, JSON.stringify(typedData)]);
  if (typeof signature !== "string") throw new WalletRefusal("The wallet did not answer as expected.");
  return signature;
}

const methods = ["eth_signAuthorization", "wallet_signAuthorization"] as const;

/** Null if the wallet signs no EIP-7702 authorization for a web page. @throws WalletRefusal */
export async function signDelegation(
  wallet: Wallet,
  { account, delegation }: PreparedRegistration,
): Promise<Authorization | null> {
  const { address, chainId, nonce } = delegation;
  const request = { account, address, contractAddress: address, chainId: hex(chainId), nonce: hex(nonce) };
  for (const method of methods) {
    try {
      return { address, chainId, nonce, ...readSigned(await ask(wallet, method, [request])) };
    } catch (error) {
      if (!(error instanceof WalletCannot)) throw error;
    }
  }
  return null;
}

type SignatureParts = Pick<Authorization, "r" | "s" | "yParity">;
type Answer = {
  readonly r?: unknown;
  readonly s?: unknown;
  readonly v?: unknown;
  readonly yParity?: unknown;
  readonly signature?: unknown;
};

const word = (value: unknown): string => `0x${String(value).replace(/^0x/, "").padStart(64, "0")}`;

/** Some wallets return the parts of a signature, and others its 65 bytes. */
function readSigned(answer: unknown): SignatureParts {
  const { r, s, v, yParity, signature } = (typeof answer === "string" ? { signature: answer } : (answer ?? {})) as Answer;
  if (typeof signature === "string" && signature.length === 132) {
    const [first, second, last] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)];
    return { r: word(first), s: word(second), yParity: parityOf(`0x${last}`) };
  }
  if (typeof r !== "string" || typeof s !== "string") throw new WalletRefusal("The wallet did not answer as expected.");
  return { r: word(r), s: word(s), yParity: parityOf(yParity ?? v) };
}

/** Wallets return 0 or 1, or 27 or 28. */
const parityOf = (value: unknown): 0 | 1 => (Number(value) % 27 === 1 ? 1 : 0);
