import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isProblem } from "#lib/problem.ts";
import { CheckoutStatus, ApprovalStatus, SettlementStatus } from "#lib/vocabulary.ts";
import {
  isTerminal,
  nextStep,
  orderTransitions,
  stateAfterPaying,
  type OrderFacts,
  type OrderState,
  type OrderStep,
} from "#lib/commerce/order/order-state.ts";

const now = new Date("2026-11-21T12:00:00.000Z");
const states = Object.keys(orderTransitions) as OrderState[];
const times = fc.constantFrom(new Date(now.getTime() - 1), now, new Date(now.getTime() + 1));

const facts: fc.Arbitrary<OrderFacts> = fc.record({
  state: fc.constantFrom(...states),
  continued: fc.boolean(),
  credential: fc.constantFrom(null, "a", "b"),
  proves: fc.boolean(),
  sent: fc.constantFrom(null, "a"),
  checkout: fc.option(
    fc.record({
      status: fc.constantFrom(...CheckoutStatus.options),
      expiresAt: times,
      approval: fc.option(fc.record({ status: fc.constantFrom(...ApprovalStatus.options), expiresAt: times })),
      own: fc.boolean(),
    }),
  ),
  holdUntil: fc.option(times),
  settlement: fc.option(fc.constantFrom(...SettlementStatus.options.filter((status) => status !== "failed"))),
});

/** The states to which each step may lead. */
const leadsTo: Readonly<Record<OrderStep, readonly OrderState[]>> = {
  quote: ["paymentCredentialRequired", "approvalRequired", "denied", "setupRequired"],
  redeem: ["paymentCredentialRequired", "quoteChanged", "denied"],
  reject: ["denied"],
  supersede: ["quoteChanged"],
  resume: ["paymentCredentialRequired"],
  pay: ["processing"],
  adopt: ["processing"],
  follow: ["completed", "failed"],
  show: [],
};

const stepOf = (of: OrderFacts): OrderStep | null => {
  try {
    return nextStep(of, now);
  } catch (error) {
    if (isProblem(error) && error.code === "authorization_consumed") return null;
    throw error;
  }
};

describe("an order", () => {
  test("changes its state only as the table of transitions allows, for any facts", () => {
    fc.assert(
      fc.property(facts, (of) => {
        const step = stepOf(of);
        if (step === null) return;
        for (const next of leadsTo[step]) {
          if (next !== of.state) expect(orderTransitions[of.state]).toContain(next);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("is never decided or paid again while a signed payment of the order may still move money", () => {
    fc.assert(
      fc.property(facts, (of) => {
        fc.pre(of.settlement !== null && of.state !== "new" && of.state !== "setupRequired");
        const step = stepOf(of);
        expect(["quote", "redeem", "pay", "resume"]).not.toContain(step);
      }),
      { numRuns: 2_000 },
    );
  });

  test("that continues an approved checkout never asks for another quote", () => {
    fc.assert(
      fc.property(facts, (of) => {
        fc.pre(of.continued && of.state !== "approvalRequired" && of.state !== "setupRequired");
        expect(stepOf(of)).not.toBe("quote");
      }),
    );
  });

  test("pays only with a signed payment, a reserved amount and in the state that asks for payment", () => {
    fc.assert(
      fc.property(facts, (of) => {
        if (stepOf(of) !== "pay") return;
        expect(of.state).toBe("paymentCredentialRequired");
        expect(of.credential !== null || of.proves).toBe(true);
        expect(of.holdUntil !== null && of.holdUntil > now).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("uses only its own pending approval, in time", () => {
    fc.assert(
      fc.property(facts, (of) => {
        if (stepOf(of) !== "redeem" || of.state === "new") return;
        expect(of.checkout).toMatchObject({ status: "approved", own: true, approval: { status: "pending" } });
        expect((of.checkout?.approval?.expiresAt ?? now) > now).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("that has ended never changes, and refuses any signed payment except the one that was sent", () => {
    fc.assert(
      fc.property(facts, (of) => {
        const step = stepOf(of);
        if (of.credential !== null && of.sent !== null && of.credential !== of.sent) expect(step).toBeNull();
        else if (isTerminal(of.state)) expect(step).toBe("show");
      }),
      { numRuns: 2_000 },
    );
  });

  test("is complete if the chain shows the payment and the storefront accepted it, and fails only with evidence", () => {
    const outcomes = [null, "completed", "refused", "unknown"] as const;
    for (const storefront of outcomes) {
      expect(stateAfterPaying({ settlement: "failed", storefront })).toBe("failed");
      for (const settlement of ["pending", "processing", "unknown"] as const) {
        expect(stateAfterPaying({ settlement, storefront })).toBe("processing");
      }
    }
    const settled = outcomes.map((storefront) => stateAfterPaying({ settlement: "settled", storefront }));
    expect(settled).toEqual(["processing", "completed", "failed", "processing"]);
  });
});
