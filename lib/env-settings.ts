import type { Variables } from "#lib/env.ts";

const passphrase = "$(openssl rand -base64 48)";
const privateKey = "0x$(openssl rand -hex 32)";
const p256Key = "$(openssl rand 32 | basenc --base64url | tr -d =)";

/** An example of a value, and what the documentation says. `byDefault` is for a variable whose schema has no default. */
type Setting = { readonly example: string; readonly byDefault?: string; readonly meaning: string };

/** All settings, in Markdown. The table of docs/operate/configuration.md is made of them. */
export const settings: Readonly<Record<keyof Variables, Setting>> = {
  ENVIRONMENT: {
    example: "production",
    meaning: "`sandbox` or `production`. A database belongs to one of them and cannot change",
  },
  PORT: {
    example: "3000",
    meaning: "where to listen",
  },
  BASE_URL: {
    example: "https://pay.example.org",
    byDefault: "`http://localhost:PORT`",
    meaning: "the address that people open in the browser; https in production",
  },
  DATABASE_URL: {
    example: "postgres://user:password@db.example.org:5432/countersign",
    byDefault: "embedded PostgreSQL 18",
    meaning:
      "a PostgreSQL server to use instead. With several hosts, `postgres://user:password@one:5432,two:5432/countersign`, the service finds the primary among them",
  },
  EMBEDDED_DATABASE: {
    example: "yes",
    byDefault: "`yes` in the sandbox",
    meaning: "whether PostgreSQL is started on this machine if `DATABASE_URL` is not set. Production starts it only with `yes`",
  },
  DATA_DIR: {
    example: "/var/lib/countersign",
    meaning: "the embedded database, the sandbox's own secrets, and which promotions of the database were seen",
  },
  BETTER_AUTH_SECRET: {
    example: passphrase,
    byDefault: "made in the sandbox",
    meaning: "signs sessions; at least 32 characters",
  },
  API_KEY_SECRET: {
    example: passphrase,
    byDefault: "made in the sandbox",
    meaning:
      "the HMAC key for hashing API keys; at least 32 characters. It also encrypts webhook secrets if `WEBHOOK_ENCRYPTION_KEY` is not set. With a new value, all API keys, open invitations, domain proofs and links to continue an order are refused, and references that were authorized for an account are free again",
  },
  SETTLEMENT_PRIVATE_KEY: {
    example: privateKey,
    byDefault: "made in the sandbox",
    meaning: "the key that submits settlements and pays for gas",
  },
  RELAYER_PRIVATE_KEY: {
    example: privateKey,
    byDefault: "made in the sandbox",
    meaning: "pays the gas of registrations and of payments by the module",
  },
  GUARDIAN_PRIVATE_KEY: {
    example: privateKey,
    byDefault: "made in the sandbox",
    meaning: "the registry's guardian: revokes mandates on chain and pays the gas for it",
  },
  POLICY_SIGNER_PRIVATE_KEY: {
    example: privateKey,
    byDefault: "made in the sandbox",
    meaning: "signs the payments of registered mandates; its address is `policySigner` in `contracts`. It needs no gas",
  },
  SANDBOX_WALLET_PRIVATE_KEY: {
    example: privateKey,
    meaning:
      "sandbox only: a wallet with test tokens of the first asset of `CHAINS` and a little ether. With it, the first steps of a new account end in a settled payment to a sample seller of this installation",
  },
  AUDIT_SIGNING_KEY: {
    example: p256Key,
    byDefault: "made in the sandbox",
    meaning:
      "signs receipts and the checkpoints of the audit chains with ES256: 32 bytes in base64url, or several such keys with commas between them. The first one signs, all are published; [how to rotate it](keys.md)",
  },
  WEBHOOK_ENCRYPTION_KEY: {
    example: p256Key,
    byDefault: "from `API_KEY_SECRET`",
    meaning:
      "encrypts the secrets of webhook endpoints: 32 bytes in base64url (made like `AUDIT_SIGNING_KEY`), or several such keys with commas between them. The first one encrypts, all decrypt; [how to rotate it](keys.md)",
  },
  VAPID_PRIVATE_KEY: {
    example: p256Key,
    byDefault: "made in the sandbox",
    meaning:
      "identifies the service to push services (32 bytes in base64url, made like `AUDIT_SIGNING_KEY`). Without it, no message goes to a device. If it changes, people must switch on their devices again",
  },
  AUDIT_HEADS_FILE: {
    example: "/var/lib/countersign/audit-heads",
    meaning:
      "a file outside of the database to which every signed head of the chain of checkpoints is appended. If somebody rewrites the whole database, the service detects it with this file. Processes on one machine share it",
  },
  CHAINS: {
    example:
      '[{"chain":"eip155:8453","rpcUrl":"https://mainnet.base.org","confirmations":2,"assets":[{"asset":"USDC","tokenAddress":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","tokenName":"USD Coin","tokenVersion":"2","tokenDecimals":6}]}]',
    byDefault: "Base Sepolia with USDC",
    meaning:
      'JSON: chains (CAIP-2), RPC addresses, confirmations, assets, `finality` (`"finalized"` or a number of blocks; without it, a confirmed payment is final), `settledAt` (with `receipt`, plain x402 payments are answered before they are confirmed), and `contracts` as `npm run chain:deploy` prints them',
  },
  FACILITATORS: {
    example: '[{"url":"https://facilitator.example.org"}]',
    meaning: 'JSON: remote x402 facilitators that sellers may choose, `[{"url", "authorization"?}]`',
  },
  OUTBOUND_LOOPBACK: {
    example: "127.0.0.1:4021",
    meaning: "list of `host:port` on this machine that sellers, storefronts and receivers of webhooks may use; sandbox only",
  },
  TRUSTED_PROXY_HOPS: {
    example: "1",
    meaning: "number of proxies in front of the service whose forwarded addresses are trusted",
  },
  RATE_LIMIT_PER_KEY: {
    example: "5000",
    meaning: "requests per second of one key or session, per process",
  },
  RATE_LIMIT_PER_ADDRESS: {
    example: "100",
    meaning: "requests per second of one address without a valid credential, per process",
  },
  RATE_LIMIT_PAGES: {
    example: "20",
    meaning: "pages per second of one address, in bursts of up to five times as many, per process",
  },
  METRICS_TOKEN: {
    example: passphrase,
    meaning: "bearer token for `/metrics` from other machines, and from this one if `TRUSTED_PROXY_HOPS` is above 0",
  },
  SHUTDOWN_DELAY_MS: {
    example: "5000",
    byDefault: "`5000` in production, else `0`",
    meaning: "how long a process continues to serve after SIGTERM, while `/api/v1/health/ready` already answers 503",
  },
  DATABASE_POOL: {
    example: "16",
    meaning:
      "connections, in addition to three for authorizing, two for emergencies, one to look for lost connections and one to see whether the database commits",
  },
  DATABASE_POOL_PAGES: {
    example: "4",
    meaning: "connections of the pages process",
  },
  PAGES_MEMORY_MIB: {
    example: "768",
    meaning: "memory above which the pages process is replaced",
  },
  SMTP_URL: {
    example: "smtp://user:password@mail.example.org:587",
    meaning:
      "the SMTP server. If it and `MAIL_FROM` are set, accounts need a confirmed address. Its query may set further options of nodemailer, which sends the mails",
  },
  MAIL_FROM: {
    example: "Countersign <pay@example.org>",
    meaning: "the sender's address of mails",
  },
  GOOGLE_CLIENT_ID: {
    example: "1234-abcd.apps.googleusercontent.com",
    meaning: "sign-in with Google; its redirect address is `BASE_URL/api/auth/callback/google`",
  },
  GOOGLE_CLIENT_SECRET: {
    example: "GOCSPX-1234",
    meaning: "the secret that belongs to `GOOGLE_CLIENT_ID`",
  },
  GITHUB_CLIENT_ID: {
    example: "Iv1.1234",
    meaning: "sign-in with GitHub; its redirect address is `BASE_URL/api/auth/callback/github`",
  },
  GITHUB_CLIENT_SECRET: {
    example: "1234abcd",
    meaning: "the secret that belongs to `GITHUB_CLIENT_ID`",
  },
  SIWE_CHAIN: {
    example: "eip155:8453",
    byDefault: "the first of `CHAINS` in the sandbox, none in production",
    meaning: "the chain that wallets name when they sign in",
  },
  RELAY_MAX_FEE_GWEI: {
    example: "100",
    meaning: "the highest fee per unit of gas that relayed transactions and settlements offer",
  },
  RELAY_LOW_BALANCE_MILLIETHER: {
    example: "5",
    meaning: "balance of relayer or guardian below which an alarm is raised",
  },
  FACILITATOR_TIMEOUT_MS: {
    example: "20000",
    meaning: "how long a facilitator may take; after that the service follows the payment on the chain",
  },
  SETTLEMENT_DAILY_CAP: {
    example: "10000",
    meaning: "settlements and relayed transactions per day that the service sends for one organization",
  },
  SETTLEMENT_DAILY_CAP_TOTAL: {
    example: "100000",
    meaning: "the same limit for all organizations together",
  },
  SETTLEMENT_MINIMUM: {
    example: "0.001",
    meaning: "the smallest payment for which the service pays gas, in whole units of its token",
  },
  LOG_LEVEL: {
    example: "info",
    meaning: "`silent`, `fatal`, `error`, `warn`, `info`, `debug` or `trace`",
  },
};

const quoted = (value: string): string => (value.includes("$(") ? `"${value}"` : /[ "'<[]/.test(value) ? `'${value}'` : value);

/** A key or passphrase of this service is written as the command that makes one, because a published value is not secret. */
export const examples = Object.fromEntries(
  Object.entries(settings).map(([name, { example }]) => [name, `${name}=${quoted(example)}`]),
) as Readonly<Record<keyof Variables, string>>;
