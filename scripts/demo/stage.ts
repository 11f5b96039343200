import { join } from "node:path";
import type { PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startChain, type LocalChain } from "../../examples/chain.ts";
import { startSeller, stockFacilitator } from "../../examples/seller.ts";
import { call } from "#lib/http/client.ts";
import { checkReadinessOfService } from "#lib/health/contract.ts";
import { isPackaged } from "#lib/process.ts";
import { buildPages } from "#lib/server/build.ts";
import { deployContracts } from "./contracts.ts";
import { holdPort, letGo } from "./port.ts";
import { startService, type Service } from "./service.ts";
import { note, section, step } from "./timeline.ts";
import { agentWallet } from "./wallet.ts";

const SERVICE_PORT = 3000;
const SHOP_PORT = 4021;
/** 100,000 USDC, in the token's smallest unit. */
const TEST_WALLET = 100_000_000_000n;

/** The seller's prices in dollars, as the x402 library expects them. */
export const shopPrices = { "/report": "$0.25", "/archive": "$1.50" };

export type Stage = {
  readonly dataDir: string;
  readonly keyFile: string;
  readonly chain: LocalChain;
  readonly service: Service;
  /** host:port of the shop that settles payments by itself. */
  readonly shop: string;
  /** host:port of the shop that uses this service as its facilitator. */
  readonly secondShop: string;
  /** host:port of a seller that is not registered. */
  readonly stranger: string;
  /** host:port of an online shop that is not registered. */
  readonly storefront: string;
  readonly agent: PrivateKeyAccount;
  readonly seller: PrivateKeyAccount;
  /** Registers a function to call at the end. The last registered function is called first. */
  closing(close: () => Promise<void>): void;
};

export type StageOptions = {
  readonly closing: Stage["closing"];
  /** Starts the service, by default that of this tree with its own database. */
  readonly serve?: typeof startService;
};

const hostOf = (port: number): string => `127.0.0.1:${port}`;

/** The facilitator of the x402 library, with its own key that has ether for gas. */
export async function facilitatorOn(chain: LocalChain) {
  const privateKey = generatePrivateKey();
  await chain.fund(privateKeyToAccount(privateKey).address);
  return stockFacilitator({ rpcUrl: chain.rpcUrl, privateKey });
}

const startShop = async (chain: LocalChain, seller: PrivateKeyAccount, port: number, closing: Stage["closing"]) => {
  const shop = await startSeller({
    facilitator: await facilitatorOn(chain),
    payTo: seller.address,
    prices: shopPrices,
    port: await letGo(port),
  });
  closing(shop.close);
};

/**
 * Creates a wallet with test USDC and ether for gas, from which the service pays the sample sellers. Returns its private key.
 */
async function fundedKey(chain: LocalChain) {
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  await chain.fund(address);
  await chain.mint(address, TEST_WALLET);
  return privateKey;
}

/** Sends ether for gas to the service's settlement keys, which have none on a new chain. /api/x402/supported lists them. */
async function fundService({ chain, service }: Pick<Stage, "chain" | "service">): Promise<void> {
  const response = await fetch(`${service.url}/api/x402/supported`);
  const { signers } = (await response.json()) as { signers: Readonly<Record<string, readonly `0x${string}`[]>> };
  for (const address of new Set(Object.values(signers).flat())) await chain.fund(address);
}

/** Builds the pages, then starts the chain, the first seller, and the service with its own database, all on this machine. */
export async function setStage({ closing, serve = startService }: StageOptions): Promise<Stage> {
  section("Starting");
  const dataDir = process.env["DATA_DIR"] || join(".data", "demo");
  const keyFile = join(dataDir, "agent.key");
  if (!isPackaged() && serve === startService) await step("The pages", () => buildPages(note));
  const chain = await step("A local chain with a test USDC", async (tell) => {
    const started = await startChain();
    closing(started.stop);
    tell("chain", `in place of Base Sepolia, at ${started.rpcUrl}`);
    return started;
  });
  const contracts = await step("The contracts for mandates on this chain", async (tell) => {
    const deployed = await deployContracts(chain);
    tell("registry", deployed.configuration["mandateRegistry"] ?? "");
    return deployed;
  });
  const seller = privateKeyToAccount(generatePrivateKey());
  const shopPort = await holdPort(SHOP_PORT);
  const secondPort = await holdPort(shopPort + 1);
  const strangerPort = await holdPort(secondPort + 1);
  const secondShop = hostOf(secondPort);
  const stranger = hostOf(strangerPort);
  const storefront = hostOf(await holdPort(strangerPort + 1));
  const shop = hostOf(shopPort);
  await step("A standard x402 seller, which knows nothing of Countersign", async (tell) => {
    await startShop(chain, seller, shopPort, closing);
    for (const [path, price] of Object.entries(shopPrices)) tell("sells", `http://${shop}${path} for ${price}`);
  });
  const port = await holdPort(Number(process.env["PORT"] || SERVICE_PORT));
  const service = await step("The service, with its own PostgreSQL 18", async (tell) => {
    const loopback = [shop, secondShop, stranger, storefront];
    const onSpawn = closing;
    const testWallet = await fundedKey(chain);
    const options = { dataDir, rpcUrl: chain.rpcUrl, contracts, testWallet, loopback, say: note, onSpawn };
    const startOn = async (free: number) => serve({ ...options, port: await letGo(free) });
    // Its database starts before it listens, so the port may be taken meanwhile.
    const started = await startOn(port).catch(async (error: unknown) => {
      if (!String(error).includes("EADDRINUSE")) throw error;
      return startOn(await holdPort(port + 1));
    });
    await call(checkReadinessOfService, {}, { baseUrl: started.url });
    await fundService({ chain, service: started });
    tell("address", started.url);
    tell("log", started.logFile);
    return started;
  });
  const hosts = { shop, secondShop, stranger, storefront };
  return { dataDir, keyFile, chain, service, ...hosts, agent: await agentWallet(keyFile), seller, closing };
}
