import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import type { Credential } from "#lib/x402/credential.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";
import { compareCredential, compareSigner, isCanonicalSignature, judgeChainFacts, SENT_NOW_SECONDS } from "#lib/x402/verify.ts";

const now = new Date("2026-11-21T12:00:00.500Z");
const seconds = BigInt(Math.floor(now.getTime() / 1000));
const expected: ExpectedPayment = {
  asset: {
    chain: "eip155:84532",
    chainId: 84_532,
    asset: "USDC",
    tokenAddress: "0x01",
    tokenName: "USDC",
    tokenVersion: "2",
    tokenDecimals: 6,
  },
  amount: 250_000n,
  payTo: "0x02",
  maxTimeoutSeconds: 300,
};
const credential: Credential = {
  chain: "eip155:84532",
  token: "0x01",
  payer: "0x03",
  payTo: "0x02",
  value: 250_000n,
  validAfter: 0n,
  validBefore: seconds + 300n,
  nonce: "0x04",
  signature: "0x05",
  accepted: { amount: "250000", payTo: "0x02", name: "USDC", version: "2" },
  payload: {
    x402Version: 2,
    accepted: {
      scheme: "exact",
      network: "eip155:84532",
      amount: "250000",
      asset: "0x01",
      payTo: "0x02",
      maxTimeoutSeconds: 300,
      extra: {},
    },
    payload: {},
  },
  hash: "",
};
const { accepted } = credential;

const code = (change: Partial<Credential>): string => {
  const verdict = compareCredential({ ...credential, ...change }, expected, now, SENT_NOW_SECONDS);
  return verdict.ok ? "ok" : verdict.code;
};

describe("compareCredential", () => {
  test.each<[string, Partial<Credential>]>([
    ["ok", {}],
    ["network_mismatch", { chain: "eip155:8453" }],
    ["asset_mismatch", { token: "0x09" }],
    ["token_domain_mismatch", { accepted: { ...accepted, name: "USD Coin" } }],
    ["token_domain_mismatch", { accepted: { ...accepted, version: undefined } }],
    ["recipient_mismatch", { payTo: "0x09" }],
    ["recipient_mismatch", { accepted: { ...accepted, payTo: "0x09" } }],
    ["amount_mismatch", { value: 249_999n }],
    ["amount_mismatch", { value: 250_001n }],
    ["amount_mismatch", { accepted: { ...accepted, amount: "1" } }],
    ["credential_expired", { validBefore: seconds + 5n }],
    ["ok", { validBefore: seconds + 6n }],
    ["credential_not_yet_valid", { validAfter: seconds + 1n }],
    ["ok", { validBefore: seconds + 604_800n }],
    ["ok", { validBefore: 2n ** 256n - 1n }],
  ])("%s for %o", (expectedCode, change) => expect(code(change)).toBe(expectedCode));
});

test("compareSigner: a mandate with a wallet pays only from that wallet", () => {
  expect(compareSigner("0xab", null).ok).toBe(true);
  expect(compareSigner("0xab", "0xAB").ok).toBe(true);
  expect(compareSigner("0xab", "0xcd")).toMatchObject({ ok: false, code: "signer_mismatch" });
});

test("judgeChainFacts checks signature, nonce and balance in this order", () => {
  const facts = { signatureValid: true, nonceUsed: false, balance: 250_000n };
  const verdict = (change: Partial<typeof facts>) => judgeChainFacts({ ...facts, ...change }, expected);
  expect(verdict({}).ok).toBe(true);
  expect(verdict({ signatureValid: false })).toMatchObject({ code: "signature_invalid" });
  expect(verdict({ nonceUsed: true })).toMatchObject({ code: "nonce_already_used" });
  expect(verdict({ balance: 249_999n })).toMatchObject({ code: "insufficient_funds", metadata: { balanceAtomic: "249999" } });
});

describe("isCanonicalSignature", () => {
  test("refuses other encodings of an account's signature: high s, v 0 or 1, compact", async () => {
    const account = privateKeyToAccount(`0x${"17".repeat(32)}`);
    const signature = await account.sign({ hash: `0x${"23".repeat(32)}` });
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const r = signature.slice(2, 66);
    const s = signature.slice(66, 130);
    const v = Number.parseInt(signature.slice(130), 16);
    const flipped = (order - BigInt(`0x${s}`)).toString(16).padStart(64, "0");
    expect(isCanonicalSignature(signature)).toBe(true);
    expect(isCanonicalSignature(`0x${r}${flipped}${(55 - v).toString(16)}`)).toBe(false);
    expect(isCanonicalSignature(`0x${r}${s}0${v - 27}`)).toBe(false);
    expect(isCanonicalSignature(`0x${r}${s}`)).toBe(false);
    expect(isCanonicalSignature(`0x${r}${"0".repeat(64)}1b`)).toBe(false);
    expect(isCanonicalSignature(`${signature}00`)).toBe(false);
  });
});
