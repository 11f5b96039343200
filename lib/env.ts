import { z } from "zod";
import { contradictions } from "#lib/env-contradictions.ts";
import { examples } from "#lib/env-settings.ts";
import { ADDRESS, BYTES32 } from "#lib/evm.ts";
import { P256_ORDER } from "#lib/p256.ts";
import { perProcess } from "#lib/process.ts";
import { Environment } from "#lib/vocabulary.ts";

/* Each message is written so that it continues after the variable's name: "PORT must be a port …". */

const saying = (error: string) => ({ error });

const text = (pattern: RegExp, must: string) => z.string(saying(must)).regex(pattern, must);
const bounded = (min: number, max: number, must: string) => z.string(saying(must)).min(min, must).max(max, must);
const whole = (min: number, max: number, must = `must be a whole number from ${min} to ${max}`) =>
  z.int(saying(must)).min(min, must).max(max, must);
const counted = (min: number, max: number, must = `must be a whole number from ${min} to ${max}`) =>
  z.coerce.number(saying(must)).pipe(whole(min, max, must));
const measured = (min: number, max: number) => {
  const must = `must be a number from ${min} to ${max}`;
  return z.coerce.number(saying(must)).pipe(z.number(saying(must)).min(min, must).max(max, must));
};
const web = z.url({ protocol: /^https?$/, error: "must be an address such as https://rpc.example" });

function isP256Key(text: string): boolean {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== 32 || bytes.toString("base64url") !== text) return false;
  const scalar = BigInt(`0x${bytes.toString("hex")}`);
  return scalar > 0n && scalar < P256_ORDER;
}

const Address = text(ADDRESS, "must be an EVM address, 0x and 40 hexadecimal digits");

const Asset = z.strictObject({
  asset: text(/^[A-Z0-9.]{1,16}$/, "must be a symbol such as USDC"),
  tokenAddress: Address,
  tokenName: bounded(1, 64, "must be the token's name in its EIP-712 domain"),
  tokenVersion: bounded(1, 16, "must be the token's version in its EIP-712 domain"),
  tokenDecimals: whole(0, 18),
});

const Caip2 = text(/^eip155:[1-9][0-9]{0,15}$/, "must be a chain as CAIP-2 writes it, such as eip155:84532");

/** The addresses of the contracts and of the policy signer, as `npm run chain:deploy` prints them. */
const Contracts = z.strictObject({
  mandateRegistry: Address,
  paymentModule: Address,
  smartPaymentAccount: Address,
  policySigner: Address,
});

const Chain = z.strictObject({
  chain: Caip2,
  rpcUrl: web,
  /** The number of blocks that must follow a block before its transactions are confirmed. */
  confirmations: whole(0, 10_000),
  /** When a block is final: as the chain reports it, or after this many blocks, but not before it is confirmed, the default. */
  finality: z
    .union([z.literal("finalized"), z.int().min(0).max(100_000)], saying("must be finalized or a number of blocks"))
    .optional(),
  /** When the seller is told that a payment without a mandate is settled: at its receipt or, by default, when confirmed. */
  settledAt: z.enum(["receipt", "confirmations"], saying("must be receipt or confirmations")).optional(),
  assets: z.array(Asset, saying("must be a list of assets")).min(1, "must name an asset").max(16, "must name at most 16 assets"),
  explorerBaseUrl: web.optional(),
  contracts: Contracts.optional(),
});
export type ChainConfiguration = z.infer<typeof Chain>;

const Facilitator = z.strictObject({ url: web, authorization: bounded(0, 4096, "must be text").optional() });

const json = <T extends z.ZodType>(schema: T, must: string) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: "custom", message: must });
        return z.NEVER;
      }
    })
    .pipe(schema);

const listOf = <T extends z.ZodType>(schema: T, min: number, must: string) =>
  json(z.array(schema, saying(must)).min(min, must).max(16, must), must);

/** Circle's USDC on Base Sepolia, the default chain of a sandbox. */
const baseSepolia: ChainConfiguration = {
  chain: "eip155:84532",
  rpcUrl: "https://sepolia.base.org",
  confirmations: 2,
  assets: [
    {
      asset: "USDC",
      tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
      tokenName: "USDC",
      tokenVersion: "2",
      tokenDecimals: 6,
    },
  ],
  explorerBaseUrl: "https://sepolia.basescan.org",
};

const privateKey = text(BYTES32, "must be a 32-byte key, 0x and 64 hexadecimal digits");

const secret = z.string(saying("must have at least 32 characters")).min(32, "must have at least 32 characters");

const clientName = bounded(1, 256, "must be what the provider gave you, at most 256 characters").optional();

const levels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;

/** The address of each host that `url` names, as in postgres://user:password@one:5432,two:5432/name. */
export function databaseHosts(url: string): string[] {
  const [, start = "", hosts = url, rest = ""] = /^([^/]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(url) ?? [];
  return hosts.split(",").map((host) => `${start}${host}${rest}`);
}

/** A comma too many would name this machine. */
const isDatabase = (address: string, _index: number, { length }: readonly string[]): boolean =>
  /^postgres(?:ql)?:\/\/./.test(address) && URL.canParse(address) && (length === 1 || new URL(address).hostname !== "");

/** All settings. lib/env-settings.ts says what each one means. */
const Variables = z.object({
  ENVIRONMENT: z.enum(Environment.options, saying("must be sandbox or production")).default("sandbox"),
  PORT: counted(0, 65_535, "must be a port from 0 to 65535").default(3000),
  BASE_URL: z.url({ protocol: /^https?$/, error: "must be the http or https address that people open" }).optional(),
  DATABASE_URL: z
    .string()
    .refine((url) => databaseHosts(url).every(isDatabase), "must be the address of a PostgreSQL database, postgres://…")
    .optional(),
  EMBEDDED_DATABASE: z.enum(["yes", "no"], saying("must be yes or no")).optional(),
  DATA_DIR: z.string().min(1).default(".data"),
  BETTER_AUTH_SECRET: secret,
  API_KEY_SECRET: secret,
  SETTLEMENT_PRIVATE_KEY: privateKey.optional(),
  RELAYER_PRIVATE_KEY: privateKey.optional(),
  GUARDIAN_PRIVATE_KEY: privateKey.optional(),
  POLICY_SIGNER_PRIVATE_KEY: privateKey.optional(),
  SANDBOX_WALLET_PRIVATE_KEY: privateKey.optional(),
  AUDIT_SIGNING_KEY: z
    .string()
    .refine(
      (keys) => keys.split(",").every(isP256Key),
      "must be a private key of P-256, 32 bytes in base64url, or several with commas between them",
    )
    .optional(),
  WEBHOOK_ENCRYPTION_KEY: text(
    /^[A-Za-z0-9_-]{43}(?:,[A-Za-z0-9_-]{43})*$/,
    "must be 32 bytes in base64url, or several such keys with commas between them",
  ).optional(),
  VAPID_PRIVATE_KEY: z.string().refine(isP256Key, "must be a private key of P-256, 32 bytes in base64url").optional(),
  AUDIT_HEADS_FILE: text(/^\//, "must be an absolute path").optional(),
  CHAINS: listOf(Chain, 1, "must be a JSON list of chains").optional(),
  FACILITATORS: listOf(Facilitator, 0, "must be a JSON list of facilitators").optional(),
  OUTBOUND_LOOPBACK: text(
    /^ *[^\s,]+:[0-9]{1,5}(?: *, *[^\s,]+:[0-9]{1,5})* *$/,
    "must be a list of host:port with commas between them",
  ).optional(),
  TRUSTED_PROXY_HOPS: counted(0, 8).default(0),
  RATE_LIMIT_PER_KEY: counted(1, 1_000_000).default(5000),
  RATE_LIMIT_PER_ADDRESS: counted(1, 1_000_000).default(100),
  RATE_LIMIT_PAGES: counted(1, 1_000_000).default(20),
  METRICS_TOKEN: text(/^[!-~]{32,}$/, "must have at least 32 characters of ASCII, without spaces").optional(),
  SHUTDOWN_DELAY_MS: counted(0, 120_000).optional(),
  DATABASE_POOL: counted(4, 200).default(16),
  DATABASE_POOL_PAGES: counted(4, 200).default(4),
  PAGES_MEMORY_MIB: counted(256, 65_536).default(768),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: "must begin with smtp:// or smtps://" }).optional(),
  MAIL_FROM: text(
    /^(?=.{1,320}$)(?:[^<>\r\n]{1,64}<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/,
    "must be an address, or a name and an address in <>",
  ).optional(),
  GOOGLE_CLIENT_ID: clientName,
  GOOGLE_CLIENT_SECRET: clientName,
  GITHUB_CLIENT_ID: clientName,
  GITHUB_CLIENT_SECRET: clientName,
  SIWE_CHAIN: Caip2.optional(),
  RELAY_MAX_FEE_GWEI: measured(0.001, 100_000).default(100),
  RELAY_LOW_BALANCE_MILLIETHER: measured(0, 1_000_000).default(5),
  FACILITATOR_TIMEOUT_MS: counted(500, 60_000).default(20_000),
  SETTLEMENT_DAILY_CAP: counted(0, 10_000_000).default(10_000),
  SETTLEMENT_DAILY_CAP_TOTAL: counted(0, 1_000_000_000).default(100_000),
  SETTLEMENT_MINIMUM: text(/^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,18})?$/, "must be an amount such as 0.001").default("0.001"),
  LOG_LEVEL: z.enum(levels, saying(`must be one of ${levels.join(", ")}`)).default("info"),
});

export type Variables = z.infer<typeof Variables>;

export type Env = Variables & {
  readonly BASE_URL: string;
  readonly CHAINS: readonly ChainConfiguration[];
  readonly SHUTDOWN_DELAY_MS: number;
};

const names = Object.keys(Variables.shape) as (keyof Variables)[];

/** The value that is used if a variable is not set; undefined if its schema has none. */
export function defaultOf(name: keyof Variables): string | undefined {
  const { data } = Variables.shape[name].safeParse(undefined);
  return data === undefined || typeof data === "string" ? data : JSON.stringify(data);
}

function wrongIn(issues: readonly z.core.$ZodIssue[]): string[] {
  const lines = issues.flatMap(({ path, message, ...issue }) => {
    if (issue.code !== "unrecognized_keys")
      return [path.length === 0 ? message : `is wrong at /${path.join("/")}: it ${message}`];
    return issue.keys.map((key) => `is wrong at /${[...path, key].join("/")}: this field is not known`);
  });
  return [...new Set(lines)];
}

/** Throws one error with a line for each problem, without secret values. */
export function readEnv(source: Readonly<Record<string, string | undefined>>): Env {
  const values: Partial<Record<keyof Variables, unknown>> = {};
  const wrong = new Map<keyof Variables, readonly string[]>();
  for (const name of names) {
    const parsed = Variables.shape[name].safeParse(source[name] || undefined);
    if (parsed.success) values[name] = parsed.data;
    else wrong.set(name, wrongIn(parsed.error.issues));
  }
  const beside = contradictions(values as Partial<Variables>).filter(({ name }) => !wrong.has(name));
  for (const [name, found] of Map.groupBy(beside, ({ name }) => name)) {
    wrong.set(
      name,
      found.map(({ message }) => message),
    );
  }
  if (wrong.size > 0) {
    const lines = names.flatMap((name) => (wrong.get(name) ?? []).map((what) => `  ${name} ${what}. Example: ${examples[name]}`));
    throw new Error(`The configuration is not usable:\n${lines.join("\n")}`);
  }
  const variables = values as Variables;
  return {
    ...variables,
    BASE_URL: new URL(variables.BASE_URL ?? `http://localhost:${variables.PORT}`).origin,
    CHAINS: variables.CHAINS ?? [baseSepolia],
    SHUTDOWN_DELAY_MS: variables.SHUTDOWN_DELAY_MS ?? (variables.ENVIRONMENT === "production" ? 5_000 : 0),
  };
}

/** Reads the configuration at the first call, because `next build` imports every route without a configuration. */
export const env = (): Env => perProcess("env", () => readEnv(process.env));

/** The host:port pairs on this machine that sellers, storefronts and webhook endpoints of a sandbox may use. */
export const outboundLoopback = (): string[] => (env().OUTBOUND_LOOPBACK ?? "").split(",").flatMap((entry) => entry.trim() || []);
