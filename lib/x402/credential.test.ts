import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { describe, expect, test } from "vitest";
import { decodeCredential } from "#lib/x402/credential.ts";

const payload = {
  x402Version: 2,
  accepted: {
    scheme: "exact",
    network: "eip155:84532",
    amount: "250000",
    asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    maxTimeoutSeconds: 300,
    extra: { name: "USDC", version: "2" },
  },
  payload: {
    signature: `0x${"1".repeat(130)}`,
    authorization: {
      from: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      value: "250000",
      validAfter: "0",
      validBefore: "1800000000",
      nonce: `0x${"Ab".repeat(32)}`,
    },
  },
};

type Json = Record<string, unknown>;
const encode = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString("base64");
const authorization = (change: Json): Json => ({
  ...payload,
  payload: { ...payload.payload, authorization: { ...payload.payload.authorization, ...change } },
});
const code = (header: string): string => {
  const decoded = decodeCredential(header);
  return decoded.ok ? "ok" : decoded.code;
};

describe("decodeCredential", () => {
  test("reads what standard x402 clients encode, with addresses and nonce in lower case", () => {
    const decoded = decodeCredential(encodePaymentSignatureHeader(payload as unknown as PaymentPayload));
    expect(decoded).toMatchObject({
      ok: true,
      credential: {
        chain: "eip155:84532",
        value: 250_000n,
        payer: payload.payload.authorization.from.toLowerCase(),
        nonce: `0x${"ab".repeat(32)}`,
      },
    });
  });

  test("hashes the canonical payload, not its bytes", () => {
    const reordered = Object.fromEntries(Object.entries(payload).toReversed());
    const hash = (json: unknown) => {
      const decoded = decodeCredential(encode(json));
      return decoded.ok && decoded.credential.hash;
    };
    expect(hash(reordered)).toBe(hash(payload));
    expect(hash(payload)).toMatch(/^[0-9a-f]{64}$/);
  });

  const twice = JSON.stringify(payload).replace('"value":"250000"', '"value":"1","value":"250000"');
  let deep: unknown = 1;
  for (let i = 0; i < 40; i++) deep = [deep];
  test.each([
    ["", "credential_malformed"],
    ["!!!", "credential_malformed"],
    ["e30=", "credential_malformed"],
    ["bnVsbA==", "credential_malformed"],
    ["W10=", "credential_malformed"],
    ["not json", "credential_malformed"],
    [`${encode(payload)}\r\nX-Evil: 1`, "credential_malformed"],
    ["A".repeat(98_305), "credential_malformed"],
    ["//79", "credential_malformed"],
    [Buffer.from(twice).toString("base64"), "credential_malformed"],
    [encode({ ...payload, deep }), "credential_malformed"],
    [encode({ ...payload, x402Version: 1 }), "credential_malformed"],
    [encode({ ...payload, accepted: { ...payload.accepted, scheme: "upto" } }), "scheme_unsupported"],
    [encode({ ...payload, payload: { signature: "0x11", permit2Authorization: {} } }), "scheme_unsupported"],
    [encode(authorization({ value: "1e3" })), "credential_malformed"],
    [encode(authorization({ value: "-1" })), "credential_malformed"],
    [encode(authorization({ value: "0x10" })), "credential_malformed"],
    [encode(authorization({ value: (2n ** 256n).toString() })), "credential_malformed"],
    [encode(authorization({ value: 250_000 })), "credential_malformed"],
    [encode(authorization({ nonce: "0x12" })), "credential_malformed"],
    [encode(authorization({ from: "0x12" })), "credential_malformed"],
  ])("refuses %.40s as %s", (header, expected) => {
    expect(code(header)).toBe(expected);
  });
});
