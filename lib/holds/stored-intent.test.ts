import fc from "fast-check";
import { expect, test } from "vitest";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { readIntent, storeIntent } from "#lib/holds/stored-intent.ts";

const word = fc.constantFrom("x402", "USDC", "0", "", "2026-11-22T12:00:00.000Z", "other");
const shared = ["settlementMode", "enforcementPath", "paymentProtocol", "chain", "asset", "expiresAt", "createdAt"];
const named = (names: readonly string[], optional: readonly string[]) =>
  fc.record(Object.fromEntries([...names, ...optional].map((name) => [name, word])), { requiredKeys: [...names] });
const free = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined });

const intent = fc
  .record({
    told: named([...shared, "amount"], ["payTo"]),
    quote: named([...shared, "feeQuoteId", "grossAmount", "feeScheduleHash"], ["sellerOrganizationId"]),
    metadata: free,
    quoted: free,
  })
  .map(({ told, quote, metadata, quoted }) => ({
    ...told,
    ...(metadata && { metadata }),
    feeQuote: { ...quote, ...(quoted && { metadata: quoted }) },
  })) as unknown as fc.Arbitrary<PaymentIntent>;

test("an intent is read unchanged", () => {
  fc.assert(
    fc.property(intent, (one) => {
      const { own, terms, termsId } = storeIntent(one);
      const columns = JSON.stringify({ intentId: one.intentId, nonce: one.nonce, createdAt: one.createdAt });
      expect(readIntent(`[${own},${terms},${columns}]`)).toEqual(JSON.parse(JSON.stringify(one)));
      expect(storeIntent({ ...one, intentId: "another" })).toMatchObject({ termsId, terms });
    }),
    { numRuns: 1_000 },
  );
});
