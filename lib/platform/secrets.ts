import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Variables = Record<string, string | undefined>;

const made = {
  BETTER_AUTH_SECRET: () => randomBytes(36).toString("base64url"),
  API_KEY_SECRET: () => randomBytes(36).toString("base64url"),
  SETTLEMENT_PRIVATE_KEY: () => `0x${randomBytes(32).toString("hex")}`,
} as const;

const FILE = "secrets.json";

async function read(file: string): Promise<Variables> {
  return JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as Variables;
}

/**
 * A sandbox makes its own secrets on its first start and keeps them in DATA_DIR; what is given wins. Production gets none:
 * there they must be given, and readEnv() refuses to go on without.
 */
export async function provideSecrets(variables: Variables): Promise<void> {
  if ((variables["ENVIRONMENT"] || "sandbox") !== "sandbox") return;
  const dataDir = variables["DATA_DIR"] || ".data";
  const file = join(dataDir, FILE);
  if (Object.keys(await read(file)).length === 0) {
    await mkdir(dataDir, { recursive: true });
    const draft = `${file}.${process.pid}`;
    const secrets = Object.fromEntries(Object.entries(made).map(([name, make]) => [name, make()]));
    await writeFile(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
    // Of two processes that start together the second takes the secrets of the first.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await rm(draft);
  }
  for (const [name, value] of Object.entries(await read(file))) {
    if (Object.hasOwn(made, name)) variables[name] ||= value;
  }
}
