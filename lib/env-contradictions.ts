import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { ChainConfiguration, Variables } from "#lib/env.ts";

/* Checks of configuration variables that their schemas do not make. A variable that its schema refuses is not in the input. */

type Settings = Partial<Variables>;
type Contradiction = { readonly name: keyof Variables; readonly message: string };

const chainKeys = ["SETTLEMENT_PRIVATE_KEY", "RELAYER_PRIVATE_KEY", "GUARDIAN_PRIVATE_KEY", "POLICY_SIGNER_PRIVATE_KEY"] as const;

/** Each private key has one purpose, and two senders with the same account would use the same nonces. */
function repeatedKeys(given: Settings): Contradiction[] {
  const names = [...chainKeys, "SANDBOX_WALLET_PRIVATE_KEY"] as const;
  const keys = names.map((name) => given[name]?.toLowerCase());
  return names
    .filter((_, index) => keys[index] !== undefined && keys.indexOf(keys[index]) < index)
    .map((name) => ({ name, message: "must differ from the other private keys" }));
}

const repeated = (values: readonly string[]): string | undefined =>
  values.find((value, index) => values.indexOf(value) !== index);

function wrongChains(chains: readonly ChainConfiguration[]): Contradiction[] {
  const twice = repeated(chains.map(({ chain }) => chain));
  if (twice !== undefined) return [{ name: "CHAINS", message: `must name ${twice} once` }];
  return chains.flatMap(({ chain, assets }) => {
    const symbol = repeated(assets.map(({ asset }) => asset));
    return symbol === undefined ? [] : [{ name: "CHAINS" as const, message: `must name ${symbol} of ${chain} once` }];
  });
}

/** The contracts of a chain accept payments of this service only with signatures of their policySigner. */
function otherSigner({ POLICY_SIGNER_PRIVATE_KEY: key, CHAINS = [] }: Settings): Contradiction[] {
  if (key === undefined) return [];
  const signer = privateKeyToAddress(key as Hex).toLowerCase();
  return CHAINS.filter(({ contracts }) => contracts && contracts.policySigner.toLowerCase() !== signer)
    .slice(0, 1)
    .map(({ chain, contracts }) => ({
      name: "POLICY_SIGNER_PRIVATE_KEY",
      message: `must be the key of the policySigner ${contracts?.policySigner} of ${chain} in CHAINS`,
    }));
}

function halves(given: Settings): Contradiction[] {
  const pairs = [
    ["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"],
    ["GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET"],
  ] as const;
  const missing = pairs.flatMap(([id, secret]): Contradiction[] => {
    if ((given[id] === undefined) === (given[secret] === undefined)) return [];
    const [name, other] = given[id] === undefined ? [id, secret] : [secret, id];
    return [{ name, message: `must be given, as ${other} is` }];
  });
  if (given.SMTP_URL !== undefined && given.MAIL_FROM === undefined)
    missing.push({ name: "MAIL_FROM", message: "must say from whom mail comes, as SMTP_URL is set" });
  return missing;
}

function withoutDatabase({ ENVIRONMENT, DATABASE_URL, EMBEDDED_DATABASE }: Settings): Contradiction[] {
  if (DATABASE_URL !== undefined || EMBEDDED_DATABASE === "yes") return [];
  if (ENVIRONMENT === "production")
    return [
      {
        name: "DATABASE_URL",
        message:
          "must name a PostgreSQL server, unless EMBEDDED_DATABASE=yes says to keep payments in a database on this machine",
      },
    ];
  return EMBEDDED_DATABASE === "no"
    ? [{ name: "DATABASE_URL", message: "must name a PostgreSQL server, as EMBEDDED_DATABASE is no" }]
    : [];
}

/** Such a secret seems easy to guess and must not protect real money. */
const weak = (value: string | undefined): boolean =>
  value !== undefined && (new Set(value).size < 12 || /change.?me|default|example|password|secret|countersign/i.test(value));

function forProduction(given: Settings): Contradiction[] {
  const found: Contradiction[] = [];
  const refuse = (name: keyof Variables, message: string) => found.push({ name, message });
  for (const name of ["BETTER_AUTH_SECRET", "API_KEY_SECRET", "VAPID_PRIVATE_KEY"] as const)
    if (weak(given[name])) refuse(name, "is weak: others can guess it");
  for (const name of ["AUDIT_SIGNING_KEY", "WEBHOOK_ENCRYPTION_KEY"] as const)
    if (given[name]?.split(",").some(weak)) refuse(name, "has a weak key: others can guess it");
  if (given.API_KEY_SECRET !== undefined && given.BETTER_AUTH_SECRET === given.API_KEY_SECRET)
    refuse("API_KEY_SECRET", "must differ from BETTER_AUTH_SECRET");
  if (!given.BASE_URL?.startsWith("https://")) refuse("BASE_URL", "must be the https address that people open");
  for (const name of ["CHAINS", "SETTLEMENT_PRIVATE_KEY", "AUDIT_SIGNING_KEY"] as const)
    if (given[name] === undefined) refuse(name, "must be given in production");
  if (given.CHAINS?.some(({ contracts }) => contracts)) {
    for (const name of chainKeys.slice(1))
      if (given[name] === undefined) refuse(name, "must be given, as CHAINS names contracts");
  }
  for (const name of ["OUTBOUND_LOOPBACK", "SANDBOX_WALLET_PRIVATE_KEY"] as const)
    if (given[name] !== undefined) refuse(name, "must not be given in production: it is only for the sandbox");
  return found;
}

export const contradictions = (given: Settings): readonly Contradiction[] => [
  ...withoutDatabase(given),
  ...repeatedKeys(given),
  ...wrongChains(given.CHAINS ?? []),
  ...otherSigner(given),
  ...halves(given),
  ...(given.ENVIRONMENT === "production" ? forProduction(given) : []),
];
