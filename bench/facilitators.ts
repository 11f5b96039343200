import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { x402Client } from "@x402/core/client";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { startEmbedded } from "#lib/db/embedded.ts";
import { localChainId, startChain, usdcAddress } from "../examples/chain.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { load, type Measurement } from "./load.ts";
import { payTo, setSellerScene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";

/**
 * The result for one endpoint and one number of connections: for each facilitator the medians of the rounds, in requests per
 * second and in milliseconds, the median of the ratios of the rounds, and the sum of the errors.
 */
export type FacilitatorRow = {
  readonly endpoint: "verify" | "settle";
  readonly connections: number;
  readonly ours: number;
  readonly stock: number;
  readonly ratio: number;
  readonly oursP50Ms: number;
  readonly stockP50Ms: number;
  readonly errors: number;
};

/** Several sellers are used, because the service settles at most 50 payments per second for each seller. */
const SELLERS = 10;
/** How many signed payments are prepared for each second of a round. There must be more than either facilitator settles. */
const SETTLED_PER_SECOND = 400;

const terms = {
  scheme: "exact",
  network: localChainId,
  amount: "1000",
  asset: usdcAddress,
  payTo,
  maxTimeoutSeconds: 3_600,
  extra: { name: "USDC", version: "2" },
} as const;
const required: PaymentRequired = { x402Version: 2, resource: { url: "https://data.example.com/report" }, accepts: [terms] };

/**
 * Returns a function that makes bodies of facilitator requests. Each body contains a different payment, which the client of the
 * x402 library signs.
 */
function bodiesOf(wallet: ReturnType<typeof privateKeyToAccount>) {
  const client = new x402Client().setSpendControls(false).register(localChainId, new ExactEvmScheme(wallet));
  return (count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async () =>
        JSON.stringify({
          x402Version: 2,
          paymentPayload: await client.createPaymentPayload(required),
          paymentRequirements: terms,
        }),
      ),
    );
}

type Peer = { readonly server: BenchServer; readonly path: string; readonly keys: readonly string[] };

async function turn(
  { server, path, keys }: Peer,
  endpoint: "verify" | "settle",
  connections: number,
  seconds: number,
  bodies: readonly string[],
): Promise<Measurement> {
  const targets = keys.map((key) => ({ port: server.port, path: `${path}/${endpoint}`, headers: { Authorization: key } }));
  const body = (index: number): string => bodies[endpoint === "verify" ? index % bodies.length : index] ?? "";
  const good = (status: number, text: string) => status === 200 && /"(isValid|success)":true/.test(text);
  return load({ targets, connections, seconds, body, good });
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function compare(
  peers: { readonly ours: Peer; readonly stock: Peer },
  endpoint: "verify" | "settle",
  connections: number,
  { rounds, seconds, sign }: { rounds: number; seconds: number; sign: (count: number) => Promise<string[]> },
): Promise<FacilitatorRow> {
  const measured = { ours: [] as Measurement[], stock: [] as Measurement[] };
  for (let at = 0; at < rounds; at += 1) {
    const names = at % 2 === 0 ? (["ours", "stock"] as const) : (["stock", "ours"] as const);
    for (const name of names) {
      const bodies = await sign(endpoint === "verify" ? 64 : SETTLED_PER_SECOND * seconds);
      measured[name].push(await turn(peers[name], endpoint, connections, seconds, bodies));
    }
  }
  const rate = (name: "ours" | "stock") => median(measured[name].map(({ perSecond }) => perSecond));
  const p50 = (name: "ours" | "stock") => median(measured[name].map(({ p50Ms }) => p50Ms));
  const errors = [...measured.ours, ...measured.stock].reduce((sum, one) => sum + one.errors, 0);
  const ratio = median(measured.ours.map((one, at) => one.perSecond / (measured.stock[at]?.perSecond ?? 1)));
  const round = (value: number, digits: number): number => Number(value.toFixed(digits));
  return {
    endpoint,
    connections,
    ours: round(rate("ours"), 0),
    stock: round(rate("stock"), 0),
    ratio: round(ratio, 2),
    oursP50Ms: round(p50("ours"), 1),
    stockP50Ms: round(p50("stock"), 1),
    errors,
  };
}

/**
 * `npm run bench -- --facilitators`: measures this service's facilitator and that of the x402 library alternately, on one chain
 * that mines each transaction at once.
 */
export async function compareFacilitators({ rounds, seconds }: { rounds: number; seconds: number }): Promise<FacilitatorRow[]> {
  const chain = await startChain();
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const database = await startEmbedded({ dataDir: folder });
  const [ourKey, stockKey, buyer] = [generatePrivateKey(), generatePrivateKey(), privateKeyToAccount(generatePrivateKey())];
  for (const key of [ourKey, stockKey]) await chain.fund(privateKeyToAddress(key));
  await chain.mint(buyer.address, 10n ** 15n);
  const token = { asset: "USDC", tokenAddress: usdcAddress, tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
  const environment = {
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    ENVIRONMENT: "sandbox",
    CHAINS: JSON.stringify([{ chain: localChainId, rpcUrl: chain.rpcUrl, confirmations: 0, assets: [token] }]),
    SETTLEMENT_PRIVATE_KEY: ourKey,
    SETTLEMENT_DAILY_CAP: "1000000",
  };
  const running: BenchServer[] = [];
  try {
    running.push(await start([...nodeFlags, "server.ts", "--api"], environment, "/api/v1/health/live"));
    running.push(await start(["bench/stock-facilitator.ts"], { RPC_URL: chain.rpcUrl, PRIVATE_KEY: stockKey }, "/"));
    const keys = await setSellerScene(running[0]!.url, SELLERS);
    const peers = {
      ours: { server: running[0]!, path: "/api/x402", keys: keys.map((key) => `Bearer ${key}`) },
      stock: { server: running[1]!, path: "", keys: ["none"] },
    };
    const how = { rounds, seconds, sign: bodiesOf(buyer) };
    // Run each facilitator before measuring, because V8 compiles the code during the first requests.
    for (const name of ["ours", "stock"] as const)
      for (const endpoint of ["verify", "settle"] as const)
        await turn(peers[name], endpoint, 16, 1, await how.sign(SETTLED_PER_SECOND));
    const rows: FacilitatorRow[] = [];
    for (const endpoint of ["verify", "settle"] as const)
      for (const connections of [1, 16]) rows.push(await compare(peers, endpoint, connections, how));
    return rows;
  } finally {
    for (const one of running) await one.stop();
    await database.stop();
    await chain.stop();
    for (const made of [database.directory, folder]) await rm(made, { recursive: true, force: true });
  }
}
