import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAmount } from "#lib/money.ts";
import { AskedIntent } from "#lib/payment-intent.ts";
import { judgeOffer, readOffer, unregisteredPayee } from "#lib/payments/unregistered-offer.ts";

const asset = {
  chain: "eip155:84532",
  chainId: 84_532,
  asset: "USDC",
  tokenAddress: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  tokenName: "USDC",
  tokenVersion: "2",
  tokenDecimals: 6,
} as const;
const payTo = "0x00000000000000000000000000000000000000Aa";
const accept = {
  scheme: "exact",
  network: asset.chain,
  amount: "250000",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo,
  maxTimeoutSeconds: 120,
  extra: { name: "USDC", version: "2" },
};
const required = { x402Version: 2, resource: { url: "https://api.example.net/report" }, accepts: [accept] };
const base = {
  intentId: "i-1",
  nonce: "n-1",
  seller: {},
  amount: "0.25",
  asset: "USDC",
  chain: asset.chain,
  payTo,
  expiresAt: "2026-11-21T12:10:00.000Z",
};

const domainOf = (host: string) => (/^[a-z.]+$/.test(host) && host !== "localhost" ? host : null);

function judged(change: Record<string, unknown> = {}, challenge: unknown = required) {
  const intent = AskedIntent.parse({ ...base, ...change, challenge });
  return judgeOffer(intent, readOffer(challenge, domainOf), parseAmount(intent.amount, 6), asset);
}

describe("an unregistered seller's challenge", () => {
  test("that matches the intent has no missing and no different field", () => {
    expect(judged()).toMatchObject({ facts: { domain: "api.example.net", lacks: [] }, mismatches: [], accepted: accept });
    expect(judged({ payTo: payTo.toLowerCase(), seller: { domain: "api.example.net" } }).mismatches).toEqual([]);
  });

  test("fits if one of its offers matches the intent, at any position", () => {
    const others = [
      { ...accept, network: "eip155:8453" },
      { ...accept, amount: "1" },
      { ...accept, scheme: "upto" },
    ];
    const { mismatches, accepted } = judged({}, { ...required, accepts: [...others, accept] });
    expect([mismatches, accepted]).toEqual([[], accept]);
  });

  test.each(["permit2", "erc7710", 1])("with another transfer method than EIP-3009 is ignored: %s", (assetTransferMethod) => {
    const other = { ...accept, extra: { ...accept.extra, assetTransferMethod } };
    const alone = judged({}, { ...required, accepts: [other] });
    expect(alone.accepted).toBeNull();
    expect(alone.mismatches.map(({ field }) => field)).toEqual(["scheme"]);
    expect(judged({}, { ...required, accepts: [other, accept] })).toMatchObject({ mismatches: [], accepted: accept });
  });

  test.each([60.5, 1e300])("with a maxTimeoutSeconds that no client can sign is ignored: %s", (maxTimeoutSeconds) => {
    const other = { ...accept, maxTimeoutSeconds };
    const alone = judged({}, { ...required, accepts: [other] });
    expect(alone.accepted).toBeNull();
    expect(alone.mismatches.map(({ field }) => field)).toEqual(["scheme"]);
    expect(judged({}, { ...required, accepts: [other, accept] })).toMatchObject({ mismatches: [], accepted: accept });
  });

  test.each(["eip3009", null])("may name EIP-3009 as its transfer method: %s", (assetTransferMethod) => {
    const named = { ...accept, extra: { ...accept.extra, assetTransferMethod } };
    expect(judged({}, { ...required, accepts: [named] })).toMatchObject({ mismatches: [], accepted: named });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no chain", { chain: undefined }, "/intent/chain"],
    ["no payTo", { payTo: undefined }, "/intent/payTo"],
  ])("%s is an incomplete intent", (_, change, pointer) =>
    expect(judged(change).facts.lacks.map((lack) => lack.pointer)).toEqual([pointer]),
  );

  test.each<[string, unknown]>([
    ["none", {}],
    ["one of version 1", { ...required, x402Version: 1 }],
    ["one without offers", { ...required, accepts: [] }],
    ["one without a resource", { x402Version: 2, accepts: [accept] }],
    ["one for a file", { ...required, resource: { url: "file:///etc/passwd" } }],
    ["one with a name before the host", { ...required, resource: { url: "https://shop.example.com@evil.example.net/" } }],
    ["one whose address is no address", { ...required, resource: { url: "report" } }],
    ["one with an endless address", { ...required, resource: { url: `https://api.example.net/${"a".repeat(2_000)}` } }],
  ])("%s is not a challenge", (_, challenge) =>
    expect(judged({}, challenge).facts.lacks.map((lack) => lack.pointer)).toEqual(["/intent/challenge"]),
  );

  test("must name a host that can be a seller's domain", () => {
    const lacks = (url: string) => judged({}, { ...required, resource: { url } }).facts.lacks.map((lack) => lack.pointer);
    expect(lacks("http://127.0.0.1:8080/")).toEqual(["/intent/challenge/resource/url"]);
    expect(lacks("https://localhost/")).toEqual(["/intent/challenge/resource/url"]);
    // A URL with another port belongs to the same seller.
    expect(judged({}, { ...required, resource: { url: "https://API.example.net:8443/x" } }).facts.domain).toBe("api.example.net");
  });

  test("another domain in the intent than in the challenge is a difference", () => {
    expect(judged({ seller: { domain: "shop.example.com" } }).mismatches).toEqual([
      { field: "domain", pointer: "/intent/seller/domain" },
    ]);
  });

  test("fits an intent whose domain has the port of the challenge's URL or no port, and no other port", () => {
    const at = { ...required, resource: { url: "https://api.example.net:8443/x" } };
    const named = (domain: string) => judged({ seller: { domain } }, at).mismatches.map(({ field }) => field);
    expect(named("api.example.net:8443")).toEqual([]);
    expect(named("api.example.net")).toEqual([]);
    expect(named("api.example.net:443")).toEqual(["domain"]);
    expect(named("api.example.com:8443")).toEqual(["domain"]);
  });

  const hex = fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }).map((value) => `0x${value.toString(16).padStart(40, "0")}`);
  const changes: Record<string, fc.Arbitrary<unknown>> = {
    network: fc.constantFrom("eip155:1", "eip155:8453", "solana:mainnet"),
    amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
    asset: hex,
    payTo: hex,
    extra: fc.constantFrom({}, { name: "USD Coin", version: "2" }, { name: "USDC", version: "1" }),
    scheme: fc.constantFrom("upto", "permit", "exactly"),
  };

  test("with one offer that differs in a field which affects the transfer never fits", () => {
    const change = fc
      .constantFrom(...Object.keys(changes))
      .chain((field) => (changes[field] ?? fc.constant(null)).map((value) => ({ field, value })));
    fc.assert(
      fc.property(change, ({ field, value }) => {
        fc.pre(JSON.stringify(value).toLowerCase() !== JSON.stringify(accept[field as keyof typeof accept]).toLowerCase());
        const { facts, mismatches } = judged({}, { ...required, accepts: [{ ...accept, [field]: value }] });
        expect(facts.lacks.length + mismatches.length).toBeGreaterThan(0);
      }),
    );
  });

  test("with any content causes no exception", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }), fc.jsonValue(), (junk, accepts) => {
        for (const challenge of [junk, { ...required, accepts }, { ...required, resource: junk }]) judged({}, challenge);
      }),
    );
  });
});

test("a payee that is not registered is stored by domain and address, which no registered seller's id can equal", () => {
  expect(unregisteredPayee("api.example.net", payTo)).toBe(`api.example.net ${payTo.toLowerCase()}`);
  expect(unregisteredPayee(null, payTo)).toBeNull();
});
