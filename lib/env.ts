import { z } from "zod";
import { perProcess } from "#lib/process.ts";
import { Environment } from "#lib/vocabulary.ts";

const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, "Write an EVM address.");

const Asset = z.strictObject({
  asset: z.string().regex(/^[A-Z0-9.]{1,16}$/),
  tokenAddress: Address,
  tokenName: z.string().min(1).max(64),
  tokenVersion: z.string().min(1).max(16),
  tokenDecimals: z.int().min(0).max(36),
});

const Caip2 = z.string().regex(/^eip155:[1-9][0-9]{0,15}$/, "Write the chain as CAIP-2, such as eip155:84532.");

/** What `npm run chain:deploy` prints. */
const Contracts = z.strictObject({
  mandateRegistry: Address,
  paymentModule: Address,
  smartPaymentAccount: Address,
  policySigner: Address,
});

const Chain = z.strictObject({
  chain: Caip2,
  rpcUrl: z.url(),
  /** Blocks on top before what a block says counts. */
  confirmations: z.int().min(0).max(10_000),
  assets: z.array(Asset).min(1).max(16),
  explorerBaseUrl: z.url().optional(),
  /** Where the hard limits of mandates live. */
  contracts: Contracts.optional(),
});
export type ChainConfiguration = z.infer<typeof Chain>;

const Facilitator = z.strictObject({ url: z.url(), authorization: z.string().max(4096).optional() });

const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: "custom", message: "is not JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema);

/** Circle's USDC on Base Sepolia, the sandbox's chain unless CHAINS names another. */
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

const privateKey = z.string().regex(/^0x[0-9a-fA-F]{64}$/, "must be a 32-byte key in hexadecimal");

const secret = z.string().min(32, "must have at least 32 characters");

const Variables = z.object({
  ENVIRONMENT: Environment.default("sandbox"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  BASE_URL: z.url().optional(),
  DATABASE_URL: z.url().optional(),
  DATA_DIR: z.string().min(1).default(".data"),
  BETTER_AUTH_SECRET: secret,
  API_KEY_SECRET: secret,
  SETTLEMENT_PRIVATE_KEY: privateKey.optional(),
  /** Pays the gas of registrations and module payments. */
  RELAYER_PRIVATE_KEY: privateKey.optional(),
  /** The registry's guardian: it may revoke any mandate, and nothing else. */
  GUARDIAN_PRIVATE_KEY: privateKey.optional(),
  /** Makes proofs and payments within registered mandates. */
  POLICY_SIGNER_PRIVATE_KEY: privateKey.optional(),
  /** The seed of the Ed25519 key that signs the checkpoints of the audit chains. */
  AUDIT_SIGNING_KEY: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, "must be 32 bytes in base64url; make one with: openssl rand 32 | basenc --base64url | tr -d =")
    .optional(),
  CHAINS: json(z.array(Chain).min(1).max(16)).optional(),
  FACILITATORS: json(z.array(Facilitator).max(16)).optional(),
  OUTBOUND_LOOPBACK: z.string().max(1024).optional(),
  TRUSTED_PROXY_HOPS: z.coerce.number().int().min(0).max(8).default(0),
  RATE_LIMIT_PER_KEY: z.coerce.number().int().min(1).max(1_000_000).default(5000),
  RATE_LIMIT_PER_ADDRESS: z.coerce.number().int().min(1).max(1_000_000).default(100),
  METRICS_TOKEN: secret.optional(),
  DATABASE_POOL: z.coerce.number().int().min(4).max(200).default(16),
  /** smtp://user:password@host:587 or smtps://…; further settings of nodemailer as query parameters. */
  SMTP_URL: z.url({ protocol: /^smtps?$/, message: "must begin with smtp:// or smtps://" }).optional(),
  MAIL_FROM: z
    .string()
    .max(320)
    .regex(/^(?:[^<>\r\n]{1,64}<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, "must be an address, or a name and an address in <>")
    .optional(),
  GOOGLE_CLIENT_ID: z.string().max(256).optional(),
  GOOGLE_CLIENT_SECRET: z.string().max(256).optional(),
  GITHUB_CLIENT_ID: z.string().max(256).optional(),
  GITHUB_CLIENT_SECRET: z.string().max(256).optional(),
  /** The chain that wallets name when they sign in. Left out: the first of CHAINS in the sandbox, no wallets in production. */
  SIWE_CHAIN: Caip2.optional(),
  /** In gwei. Higher fees are never offered, however long a transaction waits. */
  RELAY_MAX_FEE_GWEI: z.coerce.number().min(0.001).max(100_000).default(100),
  /** In milli-ether. Below it the alarm of the relayer's and the guardian's balance is raised. */
  RELAY_LOW_BALANCE_MILLIETHER: z.coerce.number().min(0).max(1_000_000).default(5),
  FACILITATOR_TIMEOUT_MS: z.coerce.number().int().min(500).max(60_000).default(20_000),
  SETTLEMENT_DAILY_CAP: z.coerce.number().int().min(0).max(10_000_000).default(10_000),
  LOG_LEVEL: z.enum(["silent", "fatal", "error", "warn", "info", "debug", "trace"]).default("info"),
});

/** The published development secrets and the like: never enough where money is real. */
const weak = (value: string): boolean =>
  new Set(value).size < 12 || /change.?me|default|example|password|secret|countersign/i.test(value);

const chainKeys = ["SETTLEMENT_PRIVATE_KEY", "RELAYER_PRIVATE_KEY", "GUARDIAN_PRIVATE_KEY", "POLICY_SIGNER_PRIVATE_KEY"] as const;

/** The names of keys that are the same as one before: each may do one thing, and two senders of one account take the same nonces. */
function repeatedKeys(variables: z.infer<typeof Variables>): readonly (typeof chainKeys)[number][] {
  const given = chainKeys.map((name) => variables[name]?.toLowerCase());
  return chainKeys.filter((_, index) => given[index] !== undefined && given.indexOf(given[index]) < index);
}

const Checked = Variables.superRefine((variables, context) => {
  const refuse = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message });
  if (variables.SMTP_URL && !variables.MAIL_FROM) refuse("MAIL_FROM", "must say from whom mail comes, as SMTP_URL is set");
  for (const name of ["GOOGLE", "GITHUB"] as const) {
    const [id, secret] = [variables[`${name}_CLIENT_ID`], variables[`${name}_CLIENT_SECRET`]];
    if ((id === undefined) !== (secret === undefined)) refuse(`${name}_CLIENT_ID`, "needs its secret, and the secret its id");
  }
  for (const name of repeatedKeys(variables)) refuse(name, "must differ from the other private keys");
  if (variables.ENVIRONMENT !== "production") return;
  for (const name of ["BETTER_AUTH_SECRET", "API_KEY_SECRET"] as const) {
    if (weak(variables[name])) refuse(name, "is weak; make one with: openssl rand -base64 48");
  }
  if (variables.BETTER_AUTH_SECRET === variables.API_KEY_SECRET) refuse("API_KEY_SECRET", "must differ from BETTER_AUTH_SECRET");
  if (!variables.BASE_URL?.startsWith("https://")) refuse("BASE_URL", "must be the https address that people open");
  if (!variables.CHAINS) refuse("CHAINS", "must name the chains to settle on");
  if (!variables.SETTLEMENT_PRIVATE_KEY) refuse("SETTLEMENT_PRIVATE_KEY", "must be given");
  if (variables.CHAINS?.some(({ contracts }) => contracts)) {
    for (const name of chainKeys.slice(1)) {
      if (!variables[name]) refuse(name, "must be given, as CHAINS names contracts");
    }
  }
  if (!variables.AUDIT_SIGNING_KEY) refuse("AUDIT_SIGNING_KEY", "must be given");
  if (variables.OUTBOUND_LOOPBACK) refuse("OUTBOUND_LOOPBACK", "is for the sandbox only");
});

export type Env = z.infer<typeof Variables> & { readonly BASE_URL: string; readonly CHAINS: readonly ChainConfiguration[] };

/** Reads and checks the configuration. Throws one sentence per variable that is wrong, never its value. */
export function readEnv(source: Readonly<Record<string, string | undefined>>): Env {
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = Checked.safeParse(given);
  if (!parsed.success) {
    throw new Error(
      `The configuration is not usable:\n${parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`).join("\n")}`,
    );
  }
  const variables = parsed.data;
  return {
    ...variables,
    BASE_URL: new URL(variables.BASE_URL ?? `http://localhost:${variables.PORT}`).origin,
    CHAINS: variables.CHAINS ?? [baseSepolia],
  };
}

/** Lazy: next build imports every route, and an import that throws would break it. */
export const env = (): Env => perProcess("env", () => readEnv(process.env));

/** The host:port pairs of this machine that sellers and storefronts of the sandbox may be. */
export const outboundLoopback = (): string[] => (env().OUTBOUND_LOOPBACK ?? "").split(",").flatMap((entry) => entry.trim() || []);
