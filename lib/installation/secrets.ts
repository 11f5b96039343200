import { randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

type Variables = Record<string, string | undefined>;

const privateKey = (): string => `0x${randomBytes(32).toString("hex")}`;

const made = {
  BETTER_AUTH_SECRET: () => randomBytes(36).toString("base64url"),
  API_KEY_SECRET: () => randomBytes(36).toString("base64url"),
  SETTLEMENT_PRIVATE_KEY: privateKey,
} as const;

const p256Key = (): string => randomBytes(32).toString("base64url");

/** Later versions added the next three groups; their files are separate, so that an existing sandbox keeps its secrets. */
const madeLater = { AUDIT_SIGNING_KEY: p256Key } as const;
const madeForPush = { VAPID_PRIVATE_KEY: p256Key } as const;
const madeForContracts = {
  RELAYER_PRIVATE_KEY: privateKey,
  GUARDIAN_PRIVATE_KEY: privateKey,
  POLICY_SIGNER_PRIVATE_KEY: privateKey,
} as const;

async function read(file: string): Promise<Variables> {
  return JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as Variables;
}

type SecretFactories = Readonly<Record<string, () => string>>;

async function provide(variables: Variables, dataDir: string, name: string, making: SecretFactories): Promise<void> {
  const file = join(dataDir, name);
  if (Object.keys(await read(file)).length === 0) {
    await mkdir(dataDir, { recursive: true }).catch((error: unknown) => {
      throw new Error(`The folder ${resolve(dataDir)} cannot be made. Set DATA_DIR to one that can.`, { cause: error });
    });
    // The name is random and not the process id, because containers that share a volume can have the same process id.
    const draft = `${file}.${randomUUID()}`;
    const secrets = Object.fromEntries(Object.entries(making).map(([name, make]) => [name, make()]));
    await writeFile(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
    // If two processes start together, only one can create the file, and the other one reads the secrets from it.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await rm(draft);
  }
  for (const [name, value] of Object.entries(await read(file))) {
    if (Object.hasOwn(making, name)) variables[name] ||= value;
  }
}

/** Only for a sandbox: secrets are made at the first start and kept in DATA_DIR; variables that are set take precedence. */
export async function provideSecrets(variables: Variables): Promise<void> {
  if ((variables["ENVIRONMENT"] || "sandbox") !== "sandbox") return;
  const dataDir = variables["DATA_DIR"] || ".data";
  await provide(variables, dataDir, "secrets.json", made);
  await provide(variables, dataDir, "audit-key.json", madeLater);
  await provide(variables, dataDir, "contract-keys.json", madeForContracts);
  await provide(variables, dataDir, "push-key.json", madeForPush);
}
