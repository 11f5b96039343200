import { spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { Hex } from "viem";
import { localChainId, usdcAddress } from "../../examples/chain.ts";
import { home, isPackaged } from "#lib/process.ts";
import { nodeFlags } from "../node-flags.ts";
import type { Contracts } from "./contracts.ts";

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 40_000;

/**
 * Environment variables that the service of the demo must not get, because a developer may have set them for another
 * installation.
 */
const foreign =
  /^(ENVIRONMENT|BASE_URL|DATABASE_URL|EMBEDDED_DATABASE|CHAINS|FACILITATORS|OUTBOUND_LOOPBACK|METRICS_TOKEN|TRUSTED_PROXY_HOPS|SETTLEMENT_.*|SANDBOX_.*|RELAY_.*|RATE_LIMIT_.*|BETTER_AUTH_SECRET|API_KEY_SECRET|AUDIT_SIGNING_KEY|WEBHOOK_ENCRYPTION_KEY|VAPID_PRIVATE_KEY|AUDIT_HEADS_FILE)$/;

export type ServiceOptions = {
  readonly dataDir: string;
  readonly port: number;
  readonly rpcUrl: string;
  readonly contracts: Contracts;
  /** The key of the wallet that pays the sample sellers. */
  readonly testWallet: Hex;
  /** host:port of the sellers on this machine. */
  readonly loopback: readonly string[];
  readonly say: (line: string) => void;
  /** Called as soon as the process exists, with a function that stops it. */
  readonly onSpawn: (stop: () => Promise<void>) => void;
};

export type Service = { readonly url: string; readonly logFile: string; readonly ended: Promise<number | null> };

/** The environment of the service of the demo. */
export function variablesOf({
  dataDir,
  port,
  rpcUrl,
  contracts,
  testWallet,
  loopback,
}: ServiceOptions): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const { configuration, keys } = contracts;
  const token = { asset: "USDC", tokenAddress: usdcAddress, tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
  return {
    ...Object.fromEntries(inherited),
    ENVIRONMENT: "sandbox",
    PORT: String(port),
    DATA_DIR: dataDir,
    CHAINS: JSON.stringify([{ chain: localChainId, rpcUrl, confirmations: 0, assets: [token], contracts: configuration }]),
    ...keys,
    SANDBOX_WALLET_PRIVATE_KEY: testWallet,
    OUTBOUND_LOOPBACK: loopback.join(","),
  };
}

const within = <T>(milliseconds: number, promise: Promise<T>): Promise<T | "late"> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, milliseconds, "late");
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** Starts the server of `npm start` in its own process. Its log goes to a file in DATA_DIR. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { dataDir, port, say, onSpawn } = options;
  await mkdir(dataDir, { recursive: true });
  const logFile = join(dataDir, "server.log");
  const log = await open(logFile, "w", 0o600);
  // The process group is a new one, so that Ctrl-C reaches only the demo, which must stop the server before the chain.
  const child = spawn(process.execPath, [...nodeFlags, isPackaged() ? join(home(), "start.mjs") : "server.ts"], {
    env: { ...variablesOf(options), NODE_ENV: "production" },
    detached: true,
    stdio: ["ignore", log.fd, "pipe"],
  });
  const orphaned = () => child.kill("SIGTERM");
  process.once("exit", orphaned);
  const ended = new Promise<number | null>((resolve) => child.once("error", () => resolve(1)).once("close", resolve));
  let said = "";
  const listening = new Promise<"ready">((resolve) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      void log.write(chunk);
      if (said.includes("(ready in")) return;
      const text = chunk.toString();
      said += text;
      for (const line of text.trim().split("\n")) say(line.replace(/^countersign: /, ""));
      if (said.includes("(ready in")) resolve("ready");
    });
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    if ((await within(STOP_LIMIT_MS, ended)) === "late") child.kill("SIGKILL");
    process.removeListener("exit", orphaned);
    await log.close();
  };
  onSpawn(stop);
  const outcome = await within(START_LIMIT_MS, Promise.race([listening, ended]));
  if (outcome !== "ready") throw new Error(`The service did not start:\n${said.trim()}`);
  return { url: `http://localhost:${port}`, logFile, ended };
}
