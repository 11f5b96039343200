import fc from "fast-check";
import { expect, test } from "vitest";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { readIntent, storeIntent } from "#lib/holds/stored-intent.ts";

const word = fc.constantFrom("x402", "USDC", "0", "", "2026-11-22T12:00:00.000Z", "other");
const shared = ["settlementMode", "enforcementPath", "paymentProtocol", "chain", "asset"];
const time = fc.constantFrom("2026-11-22T12:00:00.000Z", "2026-11-22T12:15:00.000Z", "2026-11-22T13:00:00.000Z");
const id = fc.constantFrom("fq_1", "fq_2");
const fees = ["grossAmount", "sellerNetAmount", "serviceFeeAmount", "providerFeeAmount", "networkFeeAmount"];
const named = (names: readonly string[], optional: readonly string[]) =>
  fc.record(Object.fromEntries([...names, ...optional].map((name) => [name, word])), { requiredKeys: [...names] });
const free = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined });

const intent = fc
  .record({
    told: named([...shared, "amount", "intentId", "nonce", "idempotencyKey"], ["payTo"]),
    quote: named([...shared, ...fees, "feeScheduleHash"], ["sellerOrganizationId"]),
    times: fc.record({ createdAt: time, expiresAt: time }),
    quoteTimes: fc.record({ createdAt: time, expiresAt: time, feeQuoteId: id }),
    metadata: free,
    quoted: free,
  })
  .map(({ told, quote, times, quoteTimes, metadata, quoted }) => ({
    ...told,
    ...times,
    ...(metadata && { metadata }),
    feeQuote: { ...quote, ...quoteTimes, ...(quoted && { metadata: quoted }) },
  })) as unknown as fc.Arbitrary<PaymentIntent>;

test("an intent is read unchanged", () => {
  fc.assert(
    fc.property(intent, time, (one, expiresAt) => {
      const row = { authorizationId: "aut_1", expiresAt };
      const { own, terms, termsId } = storeIntent(one, row);
      const columns = JSON.stringify({ ...row, intentId: one.intentId, nonce: one.nonce, createdAt: one.createdAt });
      expect(readIntent(`[${own},${terms},${columns}]`)).toEqual(JSON.parse(JSON.stringify(one)));
      expect(storeIntent({ ...one, intentId: "another" }, row)).toMatchObject({ termsId, terms });
    }),
    { numRuns: 1_000 },
  );
});
