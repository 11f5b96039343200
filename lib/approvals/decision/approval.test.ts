import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  approvalEnd,
  boundTo,
  decideApproval,
  latestEnd,
  REVIEW_MS,
  type ApprovalFacts,
  type BoundTerms,
} from "#lib/approvals/decision/approval.ts";
import { FRESH_SESSION_MS } from "#lib/identity/step-up-limits.ts";
import { atomicOf } from "#lib/money.ts";
import { isProblem } from "#lib/problem.ts";
import { ApprovalStatus, CheckoutStatus } from "#lib/vocabulary.ts";

const now = new Date("2026-11-21T12:00:00.000Z");
const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
const after = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const terms = { basketHash: "h", amount: atomicOf(5n), asset: "USDC", chain: "eip155:1", payTo: "0x1" };

const proved = { sessionCreatedAt: now, sellerPaidBefore: true, aboveThreshold: false, aboveUnverified: false, done: false };

const facts = (change: Partial<ApprovalFacts> = {}): ApprovalFacts => ({
  checkout: { ...terms, status: "awaiting_approval", expiresAt: after(1) },
  approval: null,
  review: { ...terms, shownAt: before(REVIEW_MS) },
  stepUp: { ...proved, sessionCreatedAt: before(FRESH_SESSION_MS) },
  mandateId: "mdt_1",
  ...change,
});

function answer(change: Partial<ApprovalFacts>): string {
  try {
    return decideApproval(facts(change), now);
  } catch (error) {
    if (isProblem(error)) return error.code;
    throw error;
  }
}

const approved = { status: "pending", mandateId: "mdt_1", approvedBasketHash: "h", expiresAt: after(600_000) } as const;
const checkout = (status: CheckoutStatus) => ({ ...terms, status, expiresAt: after(1) });

describe("decideApproval", () => {
  test("grants the terms that the person was shown, and repeats the answer while the approval is active", () => {
    expect(answer({})).toBe("grant");
    expect(answer({ approval: approved, checkout: checkout("approved"), review: null })).toBe("repeat");
  });

  test.each([
    ["another mandate", { approval: approved, mandateId: "mdt_2" }, "approval_already_decided"],
    ["another basket", { approval: { ...approved, approvedBasketHash: "other" } }, "approval_already_decided"],
    ["rejected", { approval: { ...approved, status: "rejected" as const } }, "approval_already_decided"],
    ["consumed", { approval: { ...approved, status: "consumed" as const } }, "approval_already_decided"],
    ["an approval that has expired", { approval: { ...approved, expiresAt: now } }, "intent_expired"],
    ["canceled", { checkout: checkout("canceled") }, "checkout_closed"],
    ["superseded", { checkout: checkout("superseded") }, "checkout_closed"],
    ["failed", { checkout: checkout("failed") }, "checkout_closed"],
    ["expired", { checkout: { ...checkout("awaiting_approval"), expiresAt: now } }, "intent_expired"],
    ["no review", { review: null }, "review_required"],
    ["an old review", { review: { ...terms, shownAt: before(REVIEW_MS + 1) } }, "review_required"],
    ["a review long after now", { review: { ...terms, shownAt: after(REVIEW_MS + 1) } }, "review_required"],
    ["other terms", { review: { ...terms, payTo: "0x2", shownAt: now } }, "checkout_changed"],
    ["an old session", { stepUp: { ...proved, sessionCreatedAt: before(FRESH_SESSION_MS + 1) } }, "step_up_required"],
    ["a sign-in long after now", { stepUp: { ...proved, sessionCreatedAt: after(FRESH_SESSION_MS + 1) } }, "step_up_required"],
    ["a first payment", { stepUp: { ...proved, sellerPaidBefore: false } }, "step_up_required"],
    ["a first payment after a step-up", { stepUp: { ...proved, sellerPaidBefore: false, done: true } }, "grant"],
    ["an amount above the threshold", { stepUp: { ...proved, aboveThreshold: true } }, "step_up_required"],
    ["an unverified payee above its threshold", { stepUp: { ...proved, aboveUnverified: true } }, "step_up_required"],
    ["an unverified payee after a step-up", { stepUp: { ...proved, aboveUnverified: true, done: true } }, "grant"],
    ["an amount above it after a step-up", { stepUp: { ...proved, aboveThreshold: true, done: true } }, "grant"],
  ])("%s: %o", (_name, change, code) => {
    expect(answer(change)).toBe(code);
  });

  test("grants only an open checkout whose terms the person was shown in the last ten minutes", () => {
    const term = fc.constantFrom("h", "other");
    fc.assert(
      fc.property(
        fc.record({
          status: fc.constantFrom(...CheckoutStatus.options),
          expires: fc.integer({ min: -2, max: 2 }),
          shownMinutes: fc.integer({ min: 0, max: 20 }),
          hash: term,
          amount: fc.bigInt({ min: 4n, max: 6n }),
          payTo: fc.constantFrom("0x1", "0x2"),
          approval: fc.option(fc.constantFrom(...ApprovalStatus.options), { nil: null }),
          done: fc.boolean(),
          paid: fc.boolean(),
          above: fc.boolean(),
          unverified: fc.boolean(),
        }),
        ({ status, expires, shownMinutes, hash, amount, payTo, approval, done, paid, above, unverified }) => {
          const given = {
            checkout: { ...terms, status, expiresAt: after(expires) },
            approval: approval && { ...approved, status: approval },
            review: { ...terms, basketHash: hash, amount: atomicOf(amount), payTo, shownAt: before(shownMinutes * 60_000) },
            stepUp: { sessionCreatedAt: now, sellerPaidBefore: paid, aboveThreshold: above, aboveUnverified: unverified, done },
          };
          const open = (status === "previewed" || status === "awaiting_approval") && expires > 0 && approval === null;
          const shown = shownMinutes <= 10 && hash === "h" && amount === 5n && payTo === "0x1";
          expect(answer(given) === "grant").toBe(open && shown && ((paid && !above && !unverified) || done));
        },
      ),
    );
  });
});

describe("the expiry of a request and of its approval", () => {
  const HOUR = 3_600_000;
  test.each([
    ["expires with its request", 5 * HOUR, null, 5 * HOUR],
    ["lasts at least an hour", 60_000, null, HOUR],
    ["expires with the seller's quote", 5 * HOUR, 2 * HOUR, 2 * HOUR],
    ["expires with a quote that ends within the hour", 60_000, 120_000, 120_000],
  ])("an approval %s", (_, request, quote, expected) => {
    const checkout = { expiresAt: after(request), quoteExpiresAt: quote === null ? null : after(quote) };
    expect(approvalEnd(checkout, now)).toEqual(after(expected));
  });

  test.each([
    ["a day after it was created", null, [], 24 * HOUR],
    ["when its quote ends", HOUR, [], HOUR],
    ["when its intent ends", 5 * HOUR, [after(2 * HOUR), after(9 * HOUR)], 2 * HOUR],
  ])("an extended request ends %s", (_, quote, ends, expected) => {
    const checkout = { createdAt: now, expiresAt: after(60_000), quoteExpiresAt: quote === null ? null : after(quote) };
    expect(latestEnd(checkout, ends)).toEqual(after(expected));
  });
});

test("every approved term counts: if one changes, the payment is not the approved one", () => {
  const bound: BoundTerms = {
    basketHash: "h",
    amount: 25_000_000n,
    asset: "USDC",
    chain: "eip155:84532",
    payTo: "0xAa",
    mandateId: "mdt_1",
    agentId: "sa_1",
  };
  expect(boundTo(bound, { ...bound, payTo: "0xaA" })).toBe(true);
  for (const name of Object.keys(bound) as (keyof BoundTerms)[]) {
    const other = { ...bound, [name]: name === "amount" ? 25_000_001n : "another" };
    expect([name, boundTo(bound, other)]).toEqual([name, false]);
  }
});
