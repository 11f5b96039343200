import { spawn, type ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createTestClient, encodeDeployData, http, publicActions, walletActions, type Address, type Hex } from "viem";
import { createNonceManager, privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { jsonRpc } from "viem/nonce";
import multicall from "../contracts/artifacts/TestMulticall.json" with { type: "json" };
import usdc from "../contracts/artifacts/TestUSDC.json" with { type: "json" };

/**
 * The address of Circle's USDC on Base Sepolia. The local chain has its test token at the same address, so that standard x402
 * software works unchanged.
 */
export const usdcAddress: Address = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const localChainId = "eip155:84532";
export const multicallAddress: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** The private key of anvil's first account, which pays for gas. This key is public, so never use it on another chain. */
const richKey: Hex = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

export const usdcAbi = [
  {
    type: "function",
    name: "balanceOf",
    stateMutability: "view",
    inputs: [{ name: "account", type: "address" }],
    outputs: [{ type: "uint256" }],
  },
  {
    type: "function",
    name: "mint",
    stateMutability: "nonpayable",
    inputs: [
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
    ],
    outputs: [],
  },
] as const;

export type ChainOptions = {
  /** The port; 0, which is the default, takes a free one. */
  readonly port?: number;
  /** Seconds between two blocks. Without `blockTime` and `manual`, each transaction is mined at once. */
  readonly blockTime?: number;
  /** If true, no block is mined until client.mine() or mined() is called. */
  readonly manual?: boolean;
  /** A file that keeps the chain between runs. */
  readonly statePath?: string;
};

export type LocalChain = {
  readonly rpcUrl: string;
  readonly pid: number;
  readonly client: ReturnType<typeof connect>;
  /** Mints test USDC, in its smallest unit. */
  mint(to: Address, amount: bigint): Promise<void>;
  balanceOf(account: Address): Promise<bigint>;
  /** Sets the balance of ether for gas, in wei. The default is one ether. */
  fund(account: Address, wei?: bigint): Promise<void>;
  /** Resolves when the transaction is in a block. */
  mined(hash: Promise<Hex>): Promise<void>;
  stop(): Promise<void>;
};

const connect = (rpcUrl: string) =>
  createTestClient({
    account: privateKeyToAccount(richKey, { nonceManager: createNonceManager({ source: jsonRpc() }) }),
    chain: baseSepolia,
    mode: "anvil",
    transport: http(rpcUrl, { retryCount: 0 }),
    pollingInterval: 50,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);

/**
 * The path of the anvil program. npm's wrapper for it is not used, because a wrapper that gets SIGKILL would leave the chain
 * running.
 */
function anvilPath(): string {
  const require = createRequire(import.meta.url);
  const cpu = process.arch === "x64" ? "amd64" : process.arch;
  try {
    const wrapper = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
    const folder = dirname(wrapper.resolve(`@foundry-rs/anvil-${process.platform}-${cpu}/package.json`));
    return join(folder, "bin", process.platform === "win32" ? "anvil.exe" : "anvil");
  } catch {
    throw new Error(
      "The local chain needs the optional package @foundry-rs/anvil, which npm did not install. Install again without --omit=optional.",
    );
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

/** Waits until the chain answers. False if the process ended before. @throws The last error, after 15 seconds. */
async function becomesReady(client: ReturnType<typeof connect>, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    if (child.exitCode !== null) return false;
    try {
      await client.getBlockNumber();
      return true;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Runs a constructor without a transaction, and puts the code that it returns at an address. */
async function install(
  client: ReturnType<typeof connect>,
  artifact: { readonly abi: readonly unknown[]; readonly bytecode: string },
  address: Address,
): Promise<void> {
  const { data } = await client.call({ data: encodeDeployData({ abi: [], bytecode: artifact.bytecode as Hex }) });
  if (!data) throw new Error("The contract's constructor returned no code.");
  await client.setCode({ address, bytecode: data });
}

type Reached = Omit<LocalChain, "stop" | "pid">;

function reach(rpcUrl: string, client: ReturnType<typeof connect>, { manual = false }: ChainOptions): Reached {
  const mined = async (hash: Promise<Hex>): Promise<void> => {
    const sent = await hash;
    if (manual) await client.mine({ blocks: 1 });
    await client.waitForTransactionReceipt({ hash: sent });
  };
  return {
    rpcUrl,
    client,
    mined,
    mint: (to, amount) =>
      mined(client.writeContract({ address: usdcAddress, abi: usdcAbi, functionName: "mint", args: [to, amount] })),
    balanceOf: (account) =>
      client.readContract({ address: usdcAddress, abi: usdcAbi, functionName: "balanceOf", args: [account] }),
    fund: (account, wei = 10n ** 18n) => client.setBalance({ address: account, value: wei }),
  };
}

/**
 * Stops mining, and resolves when no block is being mined. A block and a read of a balance need the same lock in anvil, so the
 * read ends after the block.
 */
async function stopMining(client: ReturnType<typeof connect>): Promise<void> {
  await client.setIntervalMining({ interval: 0 });
  await pause(100);
  await client.getBalance({ address: usdcAddress });
}

/** Connects to a local chain that another process started. */
export const chainAt = (rpcUrl: string): Reached => reach(rpcUrl, connect(rpcUrl), {});

const STARTS_MAX = 5;

/** Starts a local chain with the chain id of Base Sepolia, and with USDC and Multicall at their addresses there. */
export async function startChain(options: ChainOptions = {}): Promise<LocalChain> {
  for (let starts = 1; ; starts += 1) {
    const chain = await startAt(options.port ? options.port : await freePort(), options);
    if (chain) return chain;
    // Another process can take the free port before the chain does, so try another port.
    if (options.port || starts === STARTS_MAX) throw new Error("The local chain ended while it started.");
  }
}

/** Starts the chain on a port. Null if its process ended while it started. */
async function startAt(port: number, options: ChainOptions): Promise<LocalChain | null> {
  const rpcUrl = `http://127.0.0.1:${port}`;
  const mining = options.manual ? ["--no-mining"] : options.blockTime ? ["--block-time", String(options.blockTime)] : [];
  const keep = options.statePath ? ["--state", options.statePath] : [];
  const child = spawn(
    anvilPath(),
    ["--chain-id", "84532", "--port", String(port), "--host", "127.0.0.1", "--quiet", ...mining, ...keep],
    { stdio: "ignore" },
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const orphaned = () => child.kill("SIGKILL");
  process.once("exit", orphaned);
  const client = connect(rpcUrl);
  if (!(await becomesReady(client, child))) {
    process.removeListener("exit", orphaned);
    return null;
  }
  await install(client, usdc, usdcAddress);
  await install(client, multicall, multicallAddress);
  return {
    ...reach(rpcUrl, client, options),
    pid: child.pid ?? 0,
    async stop() {
      process.removeListener("exit", orphaned);
      // anvil saves its blocks first and its state afterwards. A block that is mined between the two would be missing in the
      // saved file, but its balances would be in it.
      if (options.statePath) await stopMining(client).catch(() => {});
      child.kill("SIGTERM");
      await ended;
    },
  };
}
