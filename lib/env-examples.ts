import type { Variables } from "#lib/env.ts";

const passphrase = "$(openssl rand -base64 48)";
const privateKey = "0x$(openssl rand -hex 32)";
const p256Key = "$(openssl rand 32 | basenc --base64url | tr -d =)";

const values: Readonly<Record<keyof Variables, string>> = {
  ENVIRONMENT: "production",
  PORT: "3000",
  BASE_URL: "https://pay.example.org",
  DATABASE_URL: "postgres://user:password@db.example.org:5432/countersign",
  EMBEDDED_DATABASE: "yes",
  DATA_DIR: "/var/lib/countersign",
  BETTER_AUTH_SECRET: passphrase,
  API_KEY_SECRET: passphrase,
  SETTLEMENT_PRIVATE_KEY: privateKey,
  RELAYER_PRIVATE_KEY: privateKey,
  GUARDIAN_PRIVATE_KEY: privateKey,
  POLICY_SIGNER_PRIVATE_KEY: privateKey,
  SANDBOX_WALLET_PRIVATE_KEY: privateKey,
  AUDIT_SIGNING_KEY: p256Key,
  WEBHOOK_ENCRYPTION_KEY: p256Key,
  VAPID_PRIVATE_KEY: p256Key,
  AUDIT_HEADS_FILE: "/var/lib/countersign/audit-heads",
  CHAINS:
    '[{"chain":"eip155:8453","rpcUrl":"https://mainnet.base.org","confirmations":2,"assets":[{"asset":"USDC","tokenAddress":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","tokenName":"USD Coin","tokenVersion":"2","tokenDecimals":6}]}]',
  FACILITATORS: '[{"url":"https://facilitator.example.org"}]',
  OUTBOUND_LOOPBACK: "127.0.0.1:4021",
  TRUSTED_PROXY_HOPS: "1",
  RATE_LIMIT_PER_KEY: "5000",
  RATE_LIMIT_PER_ADDRESS: "100",
  RATE_LIMIT_PAGES: "20",
  METRICS_TOKEN: passphrase,
  SHUTDOWN_DELAY_MS: "5000",
  DATABASE_POOL: "16",
  DATABASE_POOL_PAGES: "4",
  PAGES_MEMORY_MIB: "768",
  SMTP_URL: "smtp://user:password@mail.example.org:587",
  MAIL_FROM: "Countersign <pay@example.org>",
  GOOGLE_CLIENT_ID: "1234-abcd.apps.googleusercontent.com",
  GOOGLE_CLIENT_SECRET: "GOCSPX-1234",
  GITHUB_CLIENT_ID: "Iv1.1234",
  GITHUB_CLIENT_SECRET: "1234abcd",
  SIWE_CHAIN: "eip155:8453",
  RELAY_MAX_FEE_GWEI: "100",
  RELAY_LOW_BALANCE_MILLIETHER: "5",
  FACILITATOR_TIMEOUT_MS: "20000",
  SETTLEMENT_DAILY_CAP: "10000",
  SETTLEMENT_DAILY_CAP_TOTAL: "100000",
  SETTLEMENT_MINIMUM: "0.001",
  LOG_LEVEL: "info",
};

const quoted = (value: string): string => (value.includes("$(") ? `"${value}"` : /[ "'<[]/.test(value) ? `'${value}'` : value);

/** A key or passphrase of this service is written as the command that makes one, because a published value is not secret. */
export const examples = Object.fromEntries(
  Object.entries(values).map(([name, value]) => [name, `${name}=${quoted(value)}`]),
) as Readonly<Record<keyof Variables, string>>;
