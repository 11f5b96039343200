import { encodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import fc from "fast-check";
import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import { formatAmount, type Atomic } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import { challengeOf } from "#lib/x402/challenge-header.ts";
import { compareChallenge, readChallenge, type Mismatch } from "#lib/x402/compare-challenge.ts";
import { readQuote, type AskedItem } from "#lib/storefront/read-quote.ts";

const asset: AssetOnChain = {
  chain: "eip155:84532",
  chainId: 84_532,
  asset: "USDC",
  tokenAddress: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  tokenName: "USDC",
  tokenVersion: "2",
  tokenDecimals: 6,
};

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
const amount = fc.bigInt({ min: 1n, max: 2n ** 128n });
const expected = fc.record({ amount: amount.map((value) => value as Atomic), payTo: address }).map((part) => ({
  ...part,
  asset,
  url: "https://shop.example.com/agent/checkout",
}));
type Expected = typeof expected extends fc.Arbitrary<infer T> ? T : never;

const honest = ({ amount, payTo, url }: Expected): PaymentRequired => ({
  x402Version: 2,
  resource: { url },
  accepts: [
    {
      scheme: "exact",
      network: "eip155:84532",
      amount: amount.toString(),
      asset: asset.tokenAddress,
      payTo,
      maxTimeoutSeconds: 60,
      extra: { name: "USDC", version: "2" },
    },
  ],
});

type Lie = readonly [Mismatch["field"], (required: PaymentRequired, text: string) => PaymentRequired];
const offer = (required: PaymentRequired, change: Partial<PaymentRequired["accepts"][number]>): PaymentRequired => ({
  ...required,
  accepts: required.accepts.map((accepted) => ({ ...accepted, ...change })),
});
const lies: readonly Lie[] = [
  [
    "amount",
    (required, text) => offer(required, { amount: (BigInt(required.accepts[0]!.amount) + BigInt(text.length + 1)).toString() }),
  ],
  ["payTo", (required) => offer(required, { payTo: `0x${"ee".repeat(20)}` })],
  ["asset", (required) => offer(required, { asset: `0x${"ee".repeat(20)}` })],
  ["chain", (required) => offer(required, { network: "eip155:8453" })],
  ["tokenName", (required, text) => offer(required, { extra: { ...required.accepts[0]?.extra, name: `USDC${text}!` } })],
  ["tokenVersion", (required) => offer(required, { extra: { ...required.accepts[0]?.extra, version: "1" } })],
  ["resource", (required, text) => ({ ...required, resource: { url: `https://shop.example.com/agent/checkout?${text}!` } })],
];

describe("compareChallenge", () => {
  it("finds no difference in a correct challenge, with any spelling of addresses", () => {
    fc.assert(
      fc.property(expected, (payment) => {
        const shouted = offer(honest(payment), { payTo: `0x${payment.payTo.slice(2).toUpperCase()}` });
        expect(compareChallenge(shouted, payment).mismatches).toEqual([]);
      }),
    );
  });

  it("finds each difference, and all of several", () => {
    fc.assert(
      fc.property(
        expected,
        fc.subarray([...lies], { minLength: 1 }),
        fc.stringMatching(/^[a-z]{0,8}$/),
        (payment, told, text) => {
          const required = told.reduce((honest, [, lie]) => lie(honest, text), honest(payment));
          const found = compareChallenge(required, payment).mismatches.map(({ field }) => field);
          expect(new Set(found)).toEqual(new Set(told.map(([field]) => field)));
        },
      ),
    );
  });

  it("finds the correct offer among wrong ones, at any position", () => {
    fc.assert(
      fc.property(expected, fc.nat(4), (payment, at) => {
        const good = honest(payment);
        const bad = lies.slice(0, 4).map(([, lie]) => lie(good, "x").accepts[0]!);
        const accepts = [...bad.slice(0, at), good.accepts[0]!, ...bad.slice(at)];
        const compared = compareChallenge({ ...good, accepts }, payment);
        expect(compared.mismatches).toEqual([]);
        expect(compared.accepted).toBe(good.accepts[0]);
      }),
    );
  });

  it("ignores offers that cannot be paid", () => {
    const payment = { asset, amount: 1n as Atomic, payTo: asset.tokenAddress, url: "https://shop.example.com/" };
    for (const change of [
      { scheme: "upto" },
      { amount: "1e3" },
      { amount: "-1" },
      { amount: (2n ** 256n).toString() },
      { payTo: "shop.eth" },
    ])
      expect(compareChallenge(offer(honest(payment), change), payment).accepted).toBeNull();
  });
});

describe("the header of a challenge", () => {
  const read = (header: string) => challengeOf({ headers: { "payment-required": header }, url: "https://shop.example.com/" });

  it("is the same after the encoder of the x402 library", () => {
    fc.assert(
      fc.property(expected, (payment) => {
        expect(read(encodePaymentRequiredHeader(honest(payment)))).toEqual(honest(payment));
      }),
    );
  });

  it("is a problem if it is invalid, and never another exception", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.json().map((text) => Buffer.from(text).toString("base64")),
        ),
        (header) => {
          expect(() => read(header)).toThrow(expect.objectContaining({ code: "storefront_invalid" }) as Error);
        },
      ),
    );
    expect(readChallenge({ x402Version: 1, accepts: [] })).toBeNull();
  });
});

const item = fc.record({
  productId: fc.stringMatching(/^[a-z0-9-]{1,12}$/),
  quantity: fc.integer({ min: 1, max: 10_000 }),
  unit: fc.bigInt({ min: 1n, max: 10n ** 15n }),
});
type Priced = typeof item extends fc.Arbitrary<infer T> ? T : never;

const bodyOf = (items: readonly Priced[]) => ({
  quoteId: "q-1",
  amount: formatAmount(
    items.reduce((sum, { unit, quantity }) => sum + unit * BigInt(quantity), 0n),
    6,
  ),
  asset: "USDC",
  items: items.map(({ productId, quantity, unit }) => ({
    productId,
    name: productId,
    quantity,
    unitAmount: formatAmount(unit, 6),
    totalAmount: formatAmount(unit * BigInt(quantity), 6),
  })),
  expiresAt: "2026-11-21T12:00:00.000Z",
});
const askedOf = (items: readonly Priced[]): AskedItem[] => items.map(({ productId, quantity }) => ({ productId, quantity }));
const read = (json: unknown, items: readonly AskedItem[]) => readQuote(json, { asset, sellerId: null, resourceId: null, items });
const basket = fc.array(item, { minLength: 1, maxLength: 8 });

describe("readQuote", () => {
  it("accepts a quote whose amounts add up exactly", () => {
    fc.assert(
      fc.property(basket, (items) => {
        const quote = read(bodyOf(items), askedOf(items));
        const sum = items.reduce((sum, { unit, quantity }) => sum + unit * BigInt(quantity), 0n);
        expect(quote).toMatchObject({ ok: true, quote: { amount: sum } });
      }),
    );
  });

  it("refuses a quote that is one smallest unit wrong, in its amount or in a line", () => {
    fc.assert(
      fc.property(basket, fc.nat(), fc.constantFrom("amount", "totalAmount", "unitAmount"), (items, index, field) => {
        const body = bodyOf(items);
        const line = body.items[index % items.length]!;
        const more = (text: string) => formatAmount(atomic(text) + 1n, 6);
        if (field === "amount") body.amount = more(body.amount);
        else if (field === "totalAmount") line.totalAmount = more(line.totalAmount);
        else line.unitAmount = more(line.unitAmount);
        expect(read(body, askedOf(items)).ok).toBe(false);
      }),
    );
  });

  it("refuses another quantity, another product and an additional line", () => {
    fc.assert(
      fc.property(basket, fc.nat(), (items, index) => {
        const asked = askedOf(items);
        const at = index % items.length;
        const change = (part: AskedItem) => asked.map((one, index) => (index === at ? { ...one, ...part } : one));
        expect(read(bodyOf(items), change({ quantity: (asked[at]?.quantity ?? 1) + 1 })).ok).toBe(false);
        expect(read(bodyOf(items), change({ productId: "another-thing-entirely" })).ok).toBe(false);
        expect(read(bodyOf(items), change({ variantId: "v" })).ok).toBe(false);
        expect(read(bodyOf([...items, items[0]!]), asked).ok).toBe(false);
      }),
    );
  });

  it("never throws for any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(read(json, [{ productId: "a" }]).ok).toBe(false);
      }),
    );
  });
});

function atomic(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}
