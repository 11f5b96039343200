import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { privateKeyToAddress } from "viem/accounts";
import { testDataDir } from "#test/data-dir.ts";
import { freePort } from "#test/free-port.ts";
import { RUN_MS } from "#test/run-time.ts";
import { deployContracts, keyOf } from "#test/smart-account.ts";
import { endPostgresWithThis, whenEnded } from "#test/when-ended.ts";
import { localChainId, startChain, usdcAddress, type LocalChain } from "../../examples/chain.ts";
import { startEmbedded } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";

const root = join(import.meta.dirname, "../..");

/** Secrets for tests only. The journeys use the same values to create people and organizations. */
const secrets = {
  BETTER_AUTH_SECRET: "for the journeys only, and of no worth elsewhere",
  API_KEY_SECRET: "another one, also for the journeys only",
  AUDIT_SIGNING_KEY: "c2lnbnMgdGhlIGNoZWNrcG9pbnRzIG9mIHRlc3RzISE",
  VAPID_PRIVATE_KEY: "dGVsbHMgcGVvcGxlIG9mIHJlcXVlc3RzISBpbiB0ZXM",
  SETTLEMENT_PRIVATE_KEY: `0x${"5e".repeat(32)}`,
  RELAYER_PRIVATE_KEY: `0x${"4e".repeat(32)}`,
  GUARDIAN_PRIVATE_KEY: `0x${"69".repeat(32)}`,
  POLICY_SIGNER_PRIVATE_KEY: `0x${"95".repeat(32)}`,
  SANDBOX_WALLET_PRIVATE_KEY: `0x${"5a".repeat(32)}`,
} as const;

/**
 * Deploys the mandate contracts with the installation's guardian and policy signer, gives ether to the keys that send
 * transactions and USDC to the test wallet, and returns the addresses for the setting CHAINS.
 */
async function deployed(chain: LocalChain) {
  const { GUARDIAN_PRIVATE_KEY: guardian, POLICY_SIGNER_PRIVATE_KEY: policySigner } = secrets;
  const contracts = await deployContracts(chain, { guardian: keyOf(guardian), policySigner: keyOf(policySigner) });
  const { SETTLEMENT_PRIVATE_KEY: settlement, RELAYER_PRIVATE_KEY: relayer, SANDBOX_WALLET_PRIVATE_KEY: testWallet } = secrets;
  for (const key of [settlement, relayer, guardian, testWallet]) await chain.fund(privateKeyToAddress(key));
  await chain.mint(privateKeyToAddress(testWallet), 1_000_000_000n);
  return {
    mandateRegistry: contracts.registry,
    paymentModule: contracts.paymentModule,
    smartPaymentAccount: contracts.implementation,
    policySigner: contracts.policySigner.address,
  };
}

async function newDatabase(url: string): Promise<{ readonly url: string; drop(): Promise<void> }> {
  // The name has the same pattern as the databases of the other tests, which delete old ones, so that this one is deleted too if
  // the run is killed.
  const name = `file_${Date.now()}_${randomBytes(6).toString("hex")}`;
  const administer = async (statement: string) => {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    try {
      await sql.unsafe(statement);
    } finally {
      await sql.end({ timeout: 5 });
    }
  };
  await administer(`CREATE DATABASE ${name} TEMPLATE template0`);
  const own = new URL(url);
  own.pathname = name;
  await migrate({ url: own.href, environment: "sandbox" });
  return { url: own.href, drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** Starts the server of `npm start`. Resolves when it listens, which may take as long as a build of the pages. */
async function startServer(): Promise<() => Promise<void>> {
  const child = spawn("node", ["server.ts"], { cwd: root, env: process.env, stdio: ["ignore", "ignore", "pipe"] });
  child.once("close", whenEnded("kill", "-TERM", String(child.pid)));
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  let said = "";
  await new Promise<void>((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`The server did not start in time:\n${said}`)), RUN_MS);
    child.once("error", fail);
    child.once("close", () => fail(new Error(`The server ended:\n${said}`)));
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes("(ready in")) return;
      clearTimeout(timer);
      done();
    });
  });
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}

/** Waits until the pages process answers, which on a busy machine can be long after the API does. */
async function pagesAnswer(): Promise<void> {
  const until = Date.now() + RUN_MS;
  for (;;) {
    const { status } = await fetch(`${process.env["BASE_URL"]}/sign-in`);
    if (status === 200) return;
    if (Date.now() > until) throw new Error(`The pages did not start in time: they answer ${status}.`);
    await sleep(250);
  }
}

/** Starts the database, the chain and the built server once for all journeys. */
export default async function start(): Promise<() => Promise<void>> {
  const embedded = await startEmbedded({ dataDir: testDataDir(), durable: false, database: "tests" });
  const keep = await endPostgresWithThis(embedded.directory);
  const database = await newDatabase(embedded.url);
  const chain = await startChain();
  const contracts = await deployed(chain);
  const port = await freePort();
  const shopPort = await freePort();
  const stallPort = await freePort();
  const dataDir = await mkdtemp(join(tmpdir(), "countersign-journeys-"));
  const token = { asset: "USDC", tokenAddress: usdcAddress, tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
  // The form of a mandate offers it; no journey pays in it.
  const euros = { ...token, asset: "EURC", tokenAddress: `0x${"e0".repeat(20)}`, tokenName: "EURC" };
  // The workers that run the journeys and their test helpers inherit these variables.
  Object.assign(process.env, {
    ...secrets,
    ENVIRONMENT: "sandbox",
    BASE_URL: `http://localhost:${port}`,
    PORT: String(port),
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    LOG_LEVEL: "silent",
    RATE_LIMIT_PER_ADDRESS: "1000000",
    // Each browser sends a different address in X-Forwarded-For, because sign-ins are limited by address.
    TRUSTED_PROXY_HOPS: "1",
    // The addresses of this machine at which journeys may open sellers, which the service then may call.
    OUTBOUND_LOOPBACK: `127.0.0.1:${shopPort},127.0.0.1:${stallPort}`,
    SHOP_PORT: String(shopPort),
    STALL_PORT: String(stallPort),
    CHAIN_RPC_URL: chain.rpcUrl,
    CHAINS: JSON.stringify([{ chain: localChainId, rpcUrl: chain.rpcUrl, confirmations: 0, assets: [token, euros], contracts }]),
  });
  const stop = await startServer();
  await pagesAnswer();
  return async () => {
    await stop();
    await chain.stop();
    await database.drop();
    await embedded.stop();
    keep();
    await rm(dataDir, { recursive: true, force: true });
  };
}
