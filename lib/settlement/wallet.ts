import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createNonceManager, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { jsonRpc } from "viem/nonce";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

const KEY = /^0x[0-9a-fA-F]{64}$/;

/** In the sandbox a key is made at the first start and kept; production must be given one. */
function readKey(): `0x${string}` {
  const { SETTLEMENT_PRIVATE_KEY, ENVIRONMENT, DATA_DIR } = env();
  if (SETTLEMENT_PRIVATE_KEY) return SETTLEMENT_PRIVATE_KEY as `0x${string}`;
  if (ENVIRONMENT === "production") throw new Error("SETTLEMENT_PRIVATE_KEY must be given.");
  const path = join(DATA_DIR, "settlement.key");
  try {
    mkdirSync(DATA_DIR, { recursive: true });
    writeFileSync(path, `0x${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const key = readFileSync(path, "utf8").trim();
  if (!KEY.test(key)) throw new Error("The settlement key in DATA_DIR is not a key.");
  return key as `0x${string}`;
}

/** Pays the gas of what we settle. Its nonces are counted here: without that, parallel settlements take the same one. */
export const settlementAccount = (): PrivateKeyAccount =>
  perProcess("settlementAccount", () =>
    privateKeyToAccount(readKey(), { nonceManager: createNonceManager({ source: jsonRpc() }) }),
  );
