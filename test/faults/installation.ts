import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChain, type LocalChain } from "../../examples/chain.ts";
import { closePools } from "#lib/db/client.ts";
import { startEmbedded, type Postgres } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { forgetAll } from "#lib/process.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { Link } from "#test/link.ts";
import { CHAIN } from "#test/mandates.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { startReceiver, type Receiver } from "#test/webhooks.ts";

/** A server, with a proxy to the database and a proxy to the chain of its own, which the tests can disturb. */
export class Node {
  server: RunningServer;
  isDown = false;
  readonly database: Link;
  readonly rpc: Link;
  readonly #variables: Readonly<Record<string, string>>;

  private constructor(server: RunningServer, database: Link, rpc: Link, variables: Readonly<Record<string, string>>) {
    [this.server, this.database, this.rpc, this.#variables] = [server, database, rpc, variables];
  }

  static async start(databaseUrl: string, rpcUrl: string, loopback: string): Promise<Node> {
    const [database, rpc] = await Promise.all([Link.to(databaseUrl), Link.to(rpcUrl)]);
    const variables = {
      DATABASE_URL: database.through(databaseUrl),
      CHAINS: chainsAt(rpc.through(rpcUrl)),
      LOG_LEVEL: "fatal",
      OUTBOUND_LOOPBACK: loopback,
      // In the long run, the only seller may settle more payments than the default limits per day allow.
      SETTLEMENT_DAILY_CAP: "1000000",
      SETTLEMENT_DAILY_CAP_TOTAL: "1000000",
    };
    return new Node(await startServer(variables), database, rpc, variables);
  }

  /** Kills the server as a power cut would, and starts another one in its place. */
  async replace(): Promise<void> {
    this.isDown = true;
    await this.server.kill();
    this.server = await startServer(this.#variables);
    this.isDown = false;
  }
}

export type Installation = {
  readonly databaseUrl: string;
  readonly nodes: readonly Node[];
  readonly shop: HostileStorefront;
  readonly receiver: Receiver;
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
  const [shop, receiver] = [await openHostileStorefront(), await startReceiver()];
  const loopback = [shop.url, receiver.url("/")].map((url) => new URL(url).host).join(",");
  process.env["OUTBOUND_LOOPBACK"] = loopback;
  const nodes = await Promise.all([1, 2].map(() => Node.start(embedded.url, rpcUrl, loopback)));
  return {
    databaseUrl: embedded.url,
    nodes,
    shop,
    receiver,
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
      await Promise.all([closePools(), shop.close(), receiver.stop()]);
      await chain.stop();
      await embedded.stop();
      for (const made of [embedded.directory, folder]) await rm(made, { recursive: true, force: true });
    },
  };
}
