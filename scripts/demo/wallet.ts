import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Hex, PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

/** The agent's own key. It is created once and kept in a file that only its owner can read. */
export async function agentWallet(file: string): Promise<PrivateKeyAccount> {
  await mkdir(dirname(file), { recursive: true });
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return null;
  });
  const key = kept ?? generatePrivateKey();
  if (kept === null) await writeFile(file, `${key}\n`, { mode: 0o600, flag: "wx" });
  else await chmod(file, 0o600);
  return privateKeyToAccount(key.trim() as Hex);
}
