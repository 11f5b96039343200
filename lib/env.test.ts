import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { examples } from "#lib/env-settings.ts";
import { readEnv } from "#lib/env.ts";

type Variables = Record<string, string | undefined>;

const key = (byte: string): Hex => `0x${byte.repeat(32)}`;
const address = (byte: string): string => `0x${byte.repeat(20)}`;
const usdc = { asset: "USDC", tokenAddress: address("11"), tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
const chain = { chain: "eip155:8453", rpcUrl: "https://rpc.example", confirmations: 2, assets: [usdc] };
const production = {
  ENVIRONMENT: "production",
  BASE_URL: "https://pay.example.org",
  DATABASE_URL: "postgres://countersign@db.example.org/countersign",
  BETTER_AUTH_SECRET: "qT5mJ0w8Zr2Xk7Vb9Ny4Hs6Lc1Pd3FgA",
  API_KEY_SECRET: "uR8nK1x9As3Yl6Wc0Oz5It7Md2Qe4GhB",
  AUDIT_SIGNING_KEY: "c2lnbnMgdGhlIGNoZWNrcG9pbnRzIG9mIHRlc3RzISE",
  SETTLEMENT_PRIVATE_KEY: key("1f"),
  CHAINS: JSON.stringify([chain]),
} as const satisfies Variables;
const sandbox = {
  BETTER_AUTH_SECRET: production.BETTER_AUTH_SECRET,
  API_KEY_SECRET: production.API_KEY_SECRET,
} as const satisfies Variables;

/** Returns one line of text for each problem that readEnv finds. */
function complaints(variables: Variables): string[] {
  try {
    readEnv(variables);
    return [];
  } catch (error) {
    const [head, ...lines] = (error as Error).message.split("\n");
    expect(head).toBe("The configuration is not usable:");
    return lines;
  }
}

const named = (variables: Variables): string[] =>
  complaints(variables).map((line) => /^ {2}([A-Z0-9_]+) /.exec(line)?.[1] ?? line);

describe("readEnv", () => {
  test("a complete configuration for production is accepted, and one for a sandbox that has only the secrets", () => {
    expect(complaints(production)).toEqual([]);
    expect(complaints(sandbox)).toEqual([]);
  });

  test.each([
    ["zero", "A".repeat(43)],
    [
      "the order of P-256",
      Buffer.from("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", "hex").toString("base64url"),
    ],
    ["a number above the order", "_".repeat(42) + "8"],
    ["bits that decode to nothing, so that a key has two forms", production.AUDIT_SIGNING_KEY.replace(/E$/, "F")],
  ])("AUDIT_SIGNING_KEY must not be %s, also after a usable key", (_, unusable) => {
    for (const AUDIT_SIGNING_KEY of [unusable, `${production.AUDIT_SIGNING_KEY},${unusable}`])
      expect(complaints({ ...production, AUDIT_SIGNING_KEY })).toEqual([
        expect.stringMatching(/^ {2}AUDIT_SIGNING_KEY must be a private key of P-256/),
      ]);
  });

  test("all errors are reported at once, of single variables and of contradictions", () => {
    const wrong = {
      ...production,
      PORT: "eighty",
      BASE_URL: "http://pay.example.org",
      DATABASE_URL: "",
      BETTER_AUTH_SECRET: "short",
      API_KEY_SECRET: "change-me-change-me-change-me-change-me",
      AUDIT_SIGNING_KEY: "",
      CHAINS: "[",
      OUTBOUND_LOOPBACK: "127.0.0.1:4021",
      GOOGLE_CLIENT_ID: "id",
      SMTP_URL: "smtp://mail.example.org:587",
      LOG_LEVEL: "loud",
    };
    expect(named(wrong).toSorted()).toEqual([
      "API_KEY_SECRET",
      "AUDIT_SIGNING_KEY",
      "BASE_URL",
      "BETTER_AUTH_SECRET",
      "CHAINS",
      "DATABASE_URL",
      "GOOGLE_CLIENT_SECRET",
      "LOG_LEVEL",
      "MAIL_FROM",
      "OUTBOUND_LOOPBACK",
      "PORT",
    ]);
  });

  test("each line has the name, what is wrong and an example, and never the value", () => {
    const lines = complaints({ ...production, PORT: "eighty", BETTER_AUTH_SECRET: "s3cr3t", AUDIT_SIGNING_KEY: undefined });
    expect(lines).toEqual([
      "  PORT must be a port from 0 to 65535. Example: PORT=3000",
      '  BETTER_AUTH_SECRET must have at least 32 characters. Example: BETTER_AUTH_SECRET="$(openssl rand -base64 48)"',
      '  AUDIT_SIGNING_KEY must be given in production. Example: AUDIT_SIGNING_KEY="$(openssl rand 32 | basenc --base64url | tr -d =)"',
    ]);
  });

  test("METRICS_TOKEN must be what a bearer token can be: others would be accepted here and by no request", () => {
    const token = "a-token-of-32-characters-and-more";
    expect(readEnv({ ...production, METRICS_TOKEN: token }).METRICS_TOKEN).toBe(token);
    for (const METRICS_TOKEN of [token.slice(0, 31), `${token} ${token}`, ` ${token}`, `${token}\n`, `${token}é`])
      expect(complaints({ ...production, METRICS_TOKEN })[0]).toMatch(
        /^ {2}METRICS_TOKEN must have at least 32 characters of ASCII, without spaces\. Example/,
      );
  });

  test("AUDIT_SIGNING_KEY may have several keys, and each must be 32 bytes that are hard to guess", () => {
    const key = production.AUDIT_SIGNING_KEY;
    const other = "ZW5kcyB0aGUgY2hlY2twb2ludHMgb2YgdGVzdHMgIDI";
    const list = `${other},${key}`;
    expect(readEnv({ ...production, AUDIT_SIGNING_KEY: list }).AUDIT_SIGNING_KEY).toBe(list);
    for (const wrong of [`${key},`, `,${key}`, `${key}, ${other}`, `${key},${other}A`, `${key};${other}`, `${key}${other}`])
      expect(named({ ...production, AUDIT_SIGNING_KEY: wrong }), wrong).toEqual(["AUDIT_SIGNING_KEY"]);
    for (const guessed of [`${"A".repeat(42)}E`, `${key},${"Q".repeat(43)}`])
      expect(complaints({ ...production, AUDIT_SIGNING_KEY: guessed }), guessed).toEqual([
        expect.stringMatching(/^ {2}AUDIT_SIGNING_KEY has a weak key/),
      ]);
  });

  test("an error inside JSON names its place, and each place is named once", () => {
    const broken = [{ ...chain, rpcUrl: "nowhere", assets: [{ ...usdc, tokenDecimals: 6.5 }], extra: 1 }];
    const lines = complaints({ ...production, CHAINS: JSON.stringify(broken) });
    expect(lines.map((line) => line.split(". Example: ")[0])).toEqual([
      "  CHAINS is wrong at /0/rpcUrl: it must be an address such as https://rpc.example",
      "  CHAINS is wrong at /0/assets/0/tokenDecimals: it must be a whole number from 0 to 18",
      "  CHAINS is wrong at /0/extra: this field is not known",
    ]);
    expect(complaints({ ...production, CHAINS: "{}" })[0]).toMatch(
      /^ {2}CHAINS must be a JSON list of chains\. Example: CHAINS='\[/,
    );
  });

  test("variables that contradict each other are named", () => {
    const contracts = {
      mandateRegistry: address("21"),
      paymentModule: address("22"),
      smartPaymentAccount: address("23"),
      policySigner: privateKeyToAddress(key("1c")),
    };
    const keys = { RELAYER_PRIVATE_KEY: key("1a"), GUARDIAN_PRIVATE_KEY: key("1b"), POLICY_SIGNER_PRIVATE_KEY: key("1c") };
    const CHAINS = JSON.stringify([{ ...chain, contracts }]);
    expect(complaints({ ...production, ...keys, CHAINS })).toEqual([]);
    expect(named({ ...production, CHAINS })).toEqual(Object.keys(keys));
    const other = complaints({ ...production, ...keys, CHAINS, POLICY_SIGNER_PRIVATE_KEY: key("1d") });
    expect(other).toHaveLength(1);
    expect(other[0]).toMatch(
      /^ {2}POLICY_SIGNER_PRIVATE_KEY must be the key of the policySigner 0x[0-9A-Fa-f]{40} of eip155:8453/,
    );
    expect(named({ ...production, CHAINS: JSON.stringify([chain, chain]) })).toEqual(["CHAINS"]);
    expect(named({ ...production, CHAINS: JSON.stringify([{ ...chain, assets: [usdc, usdc] }]) })).toEqual(["CHAINS"]);
    expect(named({ ...production, API_KEY_SECRET: production.BETTER_AUTH_SECRET })).toEqual(["API_KEY_SECRET"]);
    expect(named({ ...production, ...keys, GUARDIAN_PRIVATE_KEY: key("1A"), RELAYER_PRIVATE_KEY: key("1a") })).toEqual([
      "GUARDIAN_PRIVATE_KEY",
    ]);
  });

  test.each([
    "postgres://user:a,b@db.example.org/countersign",
    "postgres://user:a,b@one:5432,[2001:db8::1]:5433/countersign?options=-c%20DateStyle=ISO,MDY",
  ])("DATABASE_URL=%s is accepted", (url) => {
    expect(named({ ...production, DATABASE_URL: url })).toEqual([]);
  });

  test("the test wallet is allowed only in a sandbox, and must differ from the other keys", () => {
    const wallet = { SANDBOX_WALLET_PRIVATE_KEY: key("1f") };
    expect(named({ ...production, ...wallet, SETTLEMENT_PRIVATE_KEY: key("1e") })).toEqual(["SANDBOX_WALLET_PRIVATE_KEY"]);
    expect(named({ ...sandbox, ...wallet })).toEqual([]);
    expect(named({ ...sandbox, ...wallet, SETTLEMENT_PRIVATE_KEY: key("1F") })).toEqual(["SANDBOX_WALLET_PRIVATE_KEY"]);
  });

  test.each([
    ["DATABASE_URL", "mysql://db.example.org/countersign"],
    ["DATABASE_URL", "postgres"],
    ["DATABASE_URL", "postgres://one,/countersign"],
    ["DATABASE_URL", "postgres://user:password@one, two/countersign"],
    ["BASE_URL", "ftp://pay.example.org"],
    ["OUTBOUND_LOOPBACK", "127.0.0.1"],
    ["OUTBOUND_LOOPBACK", "127.0.0.1:4021 127.0.0.1:4022"],
    ["EMBEDDED_DATABASE", "perhaps"],
    ["SMTP_URL", "http://mail.example.org"],
    ["FACILITATORS", '[{"url":"nowhere"}]'],
    ["RELAY_MAX_FEE_GWEI", "0"],
  ])("%s=%s is refused, and the error names the variable", (name, value) => {
    expect(named({ ...sandbox, MAIL_FROM: "pay@example.org", [name]: value })).toEqual([name]);
  });

  test("production uses the embedded database only if configured, and a sandbox unless configured otherwise", () => {
    const { DATABASE_URL: _, ...embedded } = production;
    const [line = ""] = complaints(embedded);
    expect(line).toMatch(/^ {2}DATABASE_URL must name a PostgreSQL server, unless EMBEDDED_DATABASE=yes/);
    expect(complaints({ ...embedded, EMBEDDED_DATABASE: "yes" })).toEqual([]);
    expect(named({ ...embedded, EMBEDDED_DATABASE: "no" })).toEqual(["DATABASE_URL"]);
    expect(named({ ...sandbox, EMBEDDED_DATABASE: "no" })).toEqual(["DATABASE_URL"]);
  });
});

describe("the examples", () => {
  const plain = Object.entries(examples).filter(([, example]) => !example.includes("$("));

  test("are valid, except the secrets, which every installation generates itself", () => {
    for (const [name, example] of plain) {
      const value = /^[A-Z0-9_]+=(?:'(.*)'|(.*))$/
        .exec(example)
        ?.slice(1)
        .find((text) => text !== undefined);
      const beside = { SMTP_URL: "smtp://mail.example.org:587", MAIL_FROM: "pay@example.org" };
      const pairs = { GOOGLE_CLIENT_ID: "a", GOOGLE_CLIENT_SECRET: "b", GITHUB_CLIENT_ID: "c", GITHUB_CLIENT_SECRET: "d" };
      expect(
        complaints({ ...production, OUTBOUND_LOOPBACK: "", ...beside, ...pairs, ENVIRONMENT: "sandbox", [name]: value }),
        name,
      ).toEqual([]);
    }
  });

  test("name every variable, and so does the table of docs/operate/configuration.md", async () => {
    const document = await readFile(join(import.meta.dirname, "../docs/operate/configuration.md"), "utf8");
    const rows = [...document.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => cell.replaceAll("`", "").split(", "));
    expect(rows.toSorted()).toEqual(Object.keys(examples).toSorted());
  });
});
