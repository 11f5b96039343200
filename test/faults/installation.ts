import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChain, type LocalChain } from "../../examples/chain.ts";
import { closePools } from "#lib/db/client.ts";
import { startEmbedded, type Postgres } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { forgetAll } from "#lib/process.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { Link } from "#test/link.ts";
import { CHAIN } from "#test/mandates.ts";
import { startServer, type RunningServer } from "#test/server.ts";

/** A server, with a proxy to the database and a proxy to the chain of its own, which the tests can disturb. */
export type Node = { readonly server: RunningServer; readonly database: Link; readonly rpc: Link };

export type Installation = {
  readonly nodes: readonly Node[];
  chain(): LocalChain;
  /** Stops the chain and starts it again with its saved state. */
  restartChain(): Promise<void>;
  postmasterPid(): Promise<number>;
  backendPids(): Promise<readonly number[]>;
  stop(): Promise<void>;
};

const usdc = {
  asset: "USDC",
  tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  tokenName: "USDC",
  tokenVersion: "2",
  tokenDecimals: 6,
};

const chainsAt = (rpcUrl: string): string => JSON.stringify([{ chain: CHAIN, rpcUrl, confirmations: 1, assets: [usdc] }]);

async function startNode(databaseUrl: string, rpcUrl: string): Promise<Node> {
  const [database, rpc] = await Promise.all([Link.to(databaseUrl), Link.to(rpcUrl)]);
  const variables = {
    DATABASE_URL: database.through(databaseUrl),
    CHAINS: chainsAt(rpc.through(rpcUrl)),
    LOG_LEVEL: "fatal",
    // In the long run, the only seller may settle more payments than the default limits per day allow.
    SETTLEMENT_DAILY_CAP: "1000000",
    SETTLEMENT_DAILY_CAP_TOTAL: "1000000",
  };
  return { database, rpc, server: await startServer(variables) };
}

const numbersIn = (text: string): number[] => text.split(/\s+/).filter(Boolean).map(Number);

async function postmasterOf({ directory }: Postgres): Promise<number> {
  return Number((await readFile(join(directory, "data/postmaster.pid"), "utf8").catch(() => "0")).split("\n")[0]);
}

/** Starts two servers with a PostgreSQL and a chain of their own, so that killing these does not affect other tests. */
export async function install(): Promise<Installation> {
  const folder = await mkdtemp(join(process.env["TEST_DATA_DIR"] ?? tmpdir(), "countersign-faults-"));
  await chmod(folder, 0o755);
  // This PostgreSQL is durable, because commits must survive when it crashes.
  const embedded = await startEmbedded({ dataDir: folder, database: "faults" });
  await migrate({ url: embedded.url, environment: "sandbox" });
  const statePath = join(folder, "chain.json");
  let chain = await startChain({ blockTime: 1, statePath });
  const { rpcUrl } = chain;
  forgetAll();
  Object.assign(process.env, { DATABASE_URL: embedded.url, CHAINS: chainsAt(rpcUrl) });
  await chain.fund(settlementAccount().address, 1_000n * 10n ** 18n);
  const nodes = await Promise.all([startNode(embedded.url, rpcUrl), startNode(embedded.url, rpcUrl)]);
  return {
    nodes,
    chain: () => chain,
    async restartChain() {
      await chain.stop();
      chain = await startChain({ blockTime: 1, statePath, port: Number(new URL(rpcUrl).port) });
    },
    postmasterPid: () => postmasterOf(embedded),
    async backendPids() {
      const pid = await postmasterOf(embedded);
      return numbersIn(await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => ""));
    },
    async stop() {
      await Promise.all(nodes.map(({ server }) => server.kill()));
      for (const { database, rpc } of nodes) for (const link of [database, rpc]) link.close();
      await closePools();
      await chain.stop();
      await embedded.stop();
      for (const made of [embedded.directory, folder]) await rm(made, { recursive: true, force: true });
    },
  };
}
