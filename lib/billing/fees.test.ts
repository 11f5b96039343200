import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeFee, matchSchedule, presentFeeQuote, zeroSchedule, type ScheduleFacts } from "#lib/billing/fees.ts";
import { scheduleHash, toScheduleFacts, zeroRow } from "#lib/billing/schedule-facts.ts";
import { atomicOf, zero } from "#lib/money.ts";

const schedule = (terms: Partial<ScheduleFacts>): ScheduleFacts => ({ ...zeroSchedule, feeScheduleId: "fs_1", ...terms });
const now = new Date("2026-11-21T12:00:00.000Z");
const facts = {
  buyerOrganizationId: "org_buyer",
  sellerOrganizationId: "org_seller",
  tier: "team",
  settlementMode: "offchainAuthorized",
  chain: "eip155:84532",
  asset: "USDC",
} as const;

const amount = (max: bigint) => fc.bigInt({ min: 0n, max }).map(atomicOf);
const anySchedule = fc
  .record({
    percentageBps: fc.integer({ min: 0, max: 10_000 }),
    flat: amount(10n ** 9n),
    minimum: fc.option(amount(10n ** 9n)),
    spread: fc.option(amount(10n ** 9n)),
    feePayer: fc.constantFrom("buyer", "seller", "split"),
    includedMonthlyVolume: fc.constantFrom(0, 1, 1000),
  })
  .map(({ spread, ...terms }) =>
    schedule({ ...terms, maximum: spread === null ? null : atomicOf(spread + (terms.minimum ?? 0n)) }),
  );
const gross = fc.bigInt({ min: 1n, max: 10n ** 30n }).map(atomicOf);

describe("computeFee", () => {
  it("has shares that add up to the fee, and a net amount and seller's share that add up to the gross", () => {
    fc.assert(
      fc.property(anySchedule, gross, amount(10n ** 12n), (terms, paid, used) => {
        const fee = computeFee(terms, paid, used, 6);
        expect(fee.buyerShare + fee.sellerShare).toBe(fee.serviceFee);
        expect(fee.sellerNet + fee.sellerShare).toBe(paid);
        expect(fee.sellerShare <= paid && fee.buyerShare >= 0n && fee.sellerShare >= 0n).toBe(true);
      }),
    );
  });

  it("never lowers the total fee when a payment is split in two", () => {
    fc.assert(
      fc.property(anySchedule, gross, gross, amount(10n ** 12n), (terms, one, two, used) => {
        // Let the buyer pay the fee, because only a seller's fee is limited to the amount of the payment. That limit is the one
        // exception to the rule of this test.
        const uncapped = { ...terms, feePayer: "buyer" as const };
        const whole = computeFee(uncapped, atomicOf(one + two), used, 6).serviceFee;
        const first = computeFee(uncapped, one, used, 6).serviceFee;
        const second = computeFee(uncapped, two, atomicOf(used + one), 6).serviceFee;
        expect(first + second >= whole).toBe(true);
      }),
    );
  });

  it("stays between minimum and maximum, and grows with the amount", () => {
    fc.assert(
      fc.property(anySchedule, gross, gross, (terms, one, more) => {
        const buyerPays = { ...terms, feePayer: "buyer" as const, includedMonthlyVolume: 0 };
        const fee = computeFee(buyerPays, one, zero, 6).serviceFee;
        expect(fee >= (terms.minimum ?? 0n) || fee === terms.maximum).toBe(true);
        expect(terms.maximum === null || fee <= terms.maximum).toBe(true);
        expect(computeFee(buyerPays, atomicOf(one + more), zero, 6).serviceFee >= fee).toBe(true);
      }),
    );
  });

  it("rounds a part of a unit up to a whole one", () => {
    expect(computeFee(schedule({ percentageBps: 1 }), atomicOf(1n), zero, 6).serviceFee).toBe(1n);
  });

  it("is zero within the included volume, and charges only the excess beyond it", () => {
    const terms = schedule({ percentageBps: 100, flat: atomicOf(7n), includedMonthlyVolume: 2 });
    expect(computeFee(terms, atomicOf(1_000_000n), atomicOf(1_000_000n), 6).serviceFee).toBe(0n);
    expect(computeFee(terms, atomicOf(1_000_000n), atomicOf(1_500_000n), 6).serviceFee).toBe(5_007n);
    expect(computeFee(terms, atomicOf(1_000_000n), atomicOf(9_000_000n), 6).serviceFee).toBe(10_007n);
  });

  it("charges the seller the extra unit of an odd fee that is split", () => {
    const fee = computeFee(schedule({ flat: atomicOf(5n), feePayer: "split" }), atomicOf(100n), zero, 6);
    expect(fee).toEqual({ serviceFee: 5n, buyerShare: 2n, sellerShare: 3n, sellerNet: 97n });
  });

  it("is at most the amount that the seller is paid", () => {
    const fee = computeFee(schedule({ flat: atomicOf(5n), feePayer: "seller" }), atomicOf(3n), zero, 6);
    expect(fee).toEqual({ serviceFee: 3n, buyerShare: 0n, sellerShare: 3n, sellerNet: 0n });
  });
});

describe("matchSchedule", () => {
  const both = schedule({ feeScheduleId: "fs_both", buyerOrganizationId: "org_buyer", sellerOrganizationId: "org_seller" });
  const buyer = schedule({ feeScheduleId: "fs_buyer", buyerOrganizationId: "org_buyer", planTier: "team" });
  const seller = schedule({ feeScheduleId: "fs_seller", sellerOrganizationId: "org_seller" });
  const tier = schedule({ feeScheduleId: "fs_tier", planTier: "team" });
  const anyone = schedule({ feeScheduleId: "fs_any", effectiveFrom: new Date("2026-11-01T00:00:00.000Z") });

  it("prefers buyer and seller, then buyer, seller, tier and default, in any order of the list", () => {
    const order = [both, buyer, seller, tier, anyone];
    fc.assert(
      fc.property(fc.shuffledSubarray(order, { minLength: 1 }), (some) => {
        const best = order.find((candidate) => some.includes(candidate));
        expect(matchSchedule(some, facts, now)).toBe(best);
      }),
    );
  });

  it("takes the newer of two schedules that are equally specific", () => {
    const older = schedule({ feeScheduleId: "fs_9", effectiveFrom: new Date("2026-10-01T00:00:00.000Z") });
    expect(matchSchedule([anyone, older], facts, now)).toBe(anyone);
  });

  it.each([
    ["is a draft", { active: false }],
    ["is not effective yet", { effectiveFrom: new Date("2026-11-21T12:00:00.001Z") }],
    ["is no longer effective", { effectiveUntil: now }],
    ["names another buyer", { buyerOrganizationId: "org_other" }],
    ["names another seller", { sellerOrganizationId: "org_other" }],
    ["names another tier", { planTier: "developer" }],
    ["names another mode", { settlementMode: "facilitatorSettled" }],
    ["names another chain", { chain: "eip155:1" }],
    ["names another asset", { asset: "EURC" }],
  ])("falls back to the built-in schedule when the only one %s", (_, terms) => {
    expect(matchSchedule([schedule(terms)], facts, now)).toBe(zeroSchedule);
  });
});

describe("scheduleHash", () => {
  it("is the hash in the built-in schedule", () => {
    expect(toScheduleFacts(zeroRow)).toEqual(zeroSchedule);
  });

  it("changes with the terms and not with name, status or metadata", () => {
    expect(scheduleHash({ ...zeroRow, percentageBps: 1 })).not.toBe(zeroSchedule.hash);
    const renamed = { ...zeroRow, name: "Other", status: "archived", metadata: { a: 1 }, updatedAt: now };
    expect(scheduleHash(renamed)).toBe(zeroSchedule.hash);
  });
});

describe("presentFeeQuote", () => {
  it("shows amounts as decimal text and leaves out unknown fields", () => {
    const terms = schedule({ percentageBps: 250, feePayer: "split" });
    const fee = computeFee(terms, atomicOf(250_000n), zero, 6);
    const quote = presentFeeQuote({
      feeQuoteId: "fq_1",
      schedule: terms,
      facts: { ...facts, sellerOrganizationId: null },
      fee,
      gross: atomicOf(250_000n),
      decimals: 6,
      createdAt: now,
      expiresAt: new Date("2026-11-21T12:15:00.000Z"),
    });
    expect(quote).toMatchObject({ grossAmount: "0.25", sellerNetAmount: "0.246875", serviceFeeAmount: "0.00625" });
    expect(quote).not.toHaveProperty("sellerOrganizationId");
    expect(quote).not.toHaveProperty("metadata");
  });
});
