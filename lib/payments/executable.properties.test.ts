import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import fc from "fast-check";
import { getAddress } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { assetOf } from "#lib/chains/chains.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import { formatAmount, type Atomic } from "#lib/money.ts";
import { leastIfSmaller, refuseSmall } from "#lib/onchain/broadcast-caps.ts";
import { AskedIntent } from "#lib/payment-intent.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import { findMismatches } from "#lib/payments/offers/find-mismatches.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import { judgeOffer, readOffer } from "#lib/payments/unregistered-offer.ts";
import { expectedPayment, secondsLeftFor } from "#lib/payments/executions/verify-credential.ts";
import { decodeCredential, endOf } from "#lib/x402/credential.ts";
import { paymentRequiredHeaders } from "#lib/x402/requirements.ts";
import { compareCredential } from "#lib/x402/verify.ts";
import { CHAIN } from "#test/mandates.ts";
import { newWallet } from "#test/payments.ts";

// Some offers give a second, which must not pass between signing and checking.
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

const asset = assetOf(CHAIN, "USDC")!;
const payTo = "0x00000000000000000000000000000000000000aa";
const url = "https://api.example.net/report";
const domain = "api.example.net";
const wallet = newWallet();
const standard = new x402HTTPClient(new x402Client().setSpendControls(false).register(CHAIN, new ExactEvmScheme(wallet)));

const lives = [0.5, 1, 5, 6, 29, 60, 300, 86_401, 604_800, 2 ** 31, 1e13, Number.MAX_SAFE_INTEGER, 1e300];
const extra = fc.record(
  {
    name: fc.constantFrom("USDC", "USDC", "USDC", "USD Coin"),
    version: fc.constant("2"),
    paymentFlow: fc.constantFrom("authorization", "upfront"),
    assetTransferMethod: fc.constantFrom("eip3009", "permit2"),
    note: fc.constantFrom("a", "ü", null, [1, { b: true }]),
  },
  { requiredKeys: ["version"] },
);
const offer = fc.record({
  scheme: fc.constantFrom("exact", "exact", "exact", "upto"),
  network: fc.constantFrom(CHAIN, CHAIN, CHAIN, "eip155:8453"),
  amount: fc.constantFrom("250000", "250000", "999", "1"),
  asset: fc.constantFrom<string>(asset.tokenAddress, getAddress(asset.tokenAddress)),
  payTo: fc.constantFrom<string>(payTo, getAddress(payTo)),
  maxTimeoutSeconds: fc.constantFrom(...lives),
  extra,
});
/** Asks for the one payment that is usually allowed, so that each run signs some. */
const usual = offer.map((one) => ({
  ...one,
  scheme: "exact",
  network: CHAIN,
  amount: "250000",
  extra: { ...one.extra, name: "USDC", assetTransferMethod: "eip3009" },
}));
const challenges = fc.record({
  x402Version: fc.constant(2),
  resource: fc.record({ url: fc.constant(url), description: fc.string({ unit: "grapheme" }) }),
  accepts: fc.array(fc.oneof(usual, offer), { minLength: 1, maxLength: 4 }),
  extensions: fc.constantFrom({}, { bazaar: { info: { text: "x".repeat(30_000) }, schema: {} } }),
}) as unknown as fc.Arbitrary<PaymentRequired>;

type Shop = "unregistered" | RegisteredResource["paymentConfig"]["settlementMode"];
const pricing = (amount: string) => ({ type: "fixed", amount, asset: "USDC" }) as const;

/** What authorizing would store for a payment of this offer. Null if the payment is not allowed. */
function authorizationOf(challenge: PaymentRequired, { amount: atomic }: PaymentRequirements, shop: Shop) {
  const amount = BigInt(atomic) as Atomic;
  const text = formatAmount(amount, 6);
  const seller = shop === "unregistered" ? {} : { sellerId: "seller" };
  const ids = { intentId: "i", nonce: "n", expiresAt: "2026-11-21T12:10:00.000Z" };
  const intent = AskedIntent.parse({ ...ids, seller, amount: text, asset: "USDC", chain: CHAIN, payTo, challenge });
  const read = (json: unknown) => readOffer(json, (host) => host);
  const offered = shop === "unregistered" ? judgeOffer(intent, read(challenge), amount, asset) : null;
  const settlementMode = shop === "unregistered" ? "offchainAuthorized" : shop;
  const resource = offered
    ? null
    : {
        sellerId: "seller",
        resourceId: "r",
        method: "GET",
        pathTemplate: "/report",
        pricing: pricing(text),
        acceptedPaymentChallengeTypes: ["x402"],
        paymentConfig: { chain: CHAIN, payTo, settlementMode, maxTimeoutSeconds: 300 },
      };
  const parties = {
    offered,
    seller: offered ? null : ({ sellerId: "seller", domain } as RegisteredSeller),
    resource: resource as RegisteredResource | null,
  };
  const terms = { chain: CHAIN, asset, digits: 6, amount, expiresAt: new Date() };
  const isSmall = settlementMode === "facilitatorSettled" && leastIfSmaller(amount, asset) !== null;
  const differs = findMismatches({ intent, purchase: null } as unknown as Item, parties, terms, read).length > 0;
  if (differs || isSmall || (offered && offered.facts.lacks.length > 0)) return null;
  const maxTimeoutSeconds = offered?.maxTimeoutSeconds ?? 300;
  return { chain: CHAIN, asset: "USDC", amount, payTo, maxTimeoutSeconds, settlementMode, intent } as unknown as AuthorizationRow;
}

const encode = async (required: PaymentRequired): Promise<string | null> => {
  const payload = await standard.createPaymentPayload(required).catch(() => null);
  return payload && (standard.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"] ?? null);
};

/** Null if executePayment would accept the credential. */
function refusalOf(header: string, row: AuthorizationRow): string | null {
  const expected = expectedPayment(row);
  const decoded = decodeCredential(header, expected);
  if (!decoded.ok) return decoded.detail;
  if (!(endOf(decoded.credential).getTime() > 0)) return "The end cannot be stored.";
  const verdict = compareCredential(decoded.credential, expected, new Date(), secondsLeftFor(row));
  if (!verdict.ok) return verdict.detail;
  return (row.settlementMode === "facilitatorSettled" && refuseSmall(row.amount, asset)?.detail) || null;
}

test("executePayment accepts the credential that a standard client signs for any offer that authorizePayment allows", async () => {
  let signed = 0;
  const shops = fc.constantFrom<Shop>("unregistered", "offchainAuthorized", "facilitatorSettled");
  await fc.assert(
    fc.asyncProperty(challenges, shops, async (challenge, shop) => {
      for (const one of challenge.accepts) {
        if (one.network !== CHAIN || one.scheme !== "exact" || one.extra?.["assetTransferMethod"] === "permit2") continue;
        const row = authorizationOf(challenge, one, shop);
        // An offer that would not be allowed alone is not the one that is allowed, but another offer of the same payment.
        if (!row || !authorizationOf({ ...challenge, accepts: [one] }, one, shop)) continue;
        // A client that cannot sign the seller's offer signs the one in the answer of executePayment.
        const headers = paymentRequiredHeaders(expectedPayment(row), url);
        const own = standard.getPaymentRequiredResponse((name) => headers[name]);
        const header = (await encode({ ...challenge, accepts: [one] })) ?? (await encode(own));
        expect(header && refusalOf(header, row)).toBeNull();
        signed += 1;
      }
    }),
    { numRuns: 40 },
  );
  expect(signed).toBeGreaterThan(20);
}, 60_000);
