import { describe, expect, test } from "vitest";
import cases from "../../sdk/purchase-steps.json" with { type: "json" };
import { afterExecution, afterReading, afterRefusal, follow, samePurchase } from "../../sdk/src/purchase/follow.ts";
import { noFacts, stepOf, type Execution, type Facts } from "../../sdk/src/purchase/step.ts";

/* The decisions of a purchase, which pay.fetch, the MCP tools and the test payment of the pages carry out. */

const base = cases.base as unknown as Facts;
const factsOf = ({ authorization, ...facts }: { readonly authorization?: string }): Facts => ({
  ...base,
  ...(facts as Partial<Facts>),
  ...(authorization !== undefined && {
    authorization: cases.authorizations[authorization as keyof typeof cases.authorizations] as Facts["authorization"],
  }),
});

test("the cases begin with the facts of this package", () => {
  expect(noFacts).toEqual(base);
});

describe("the next step", () => {
  test.each(cases.steps)("$name", ({ facts, step }) => {
    expect(stepOf(factsOf(facts))).toEqual(step);
  });

  test("each kind of step and of end has a case", () => {
    const kinds = cases.steps.map(({ step }) => ("why" in step ? step.why : "for" in step ? `wait ${step.for}` : step.step));
    expect([...new Set(kinds)].toSorted().join(", ")).toBe(
      "ask, authorize, canceled, consumed, declined, denied, execute, expired, failed, keyReused, nobodyAsked, notServed, offerExpired, paid, paidButNotServed, paidForAnother, settling, show, sign, wait attempt, wait outcome, wait payment, wait person",
    );
  });
});

const execution: Execution = { executionId: "exe_1", settlementStatus: "pending" };
const attempt = (isRepeat: boolean) =>
  ({ step: "execute", authorizationId: "aut_1", idempotencyKey: "aut_1", isRepeat }) as const;

describe("an answer of executePayment", () => {
  test.each(cases.refusals)("$name", ({ isRepeat, code, status, after }) => {
    const facts: Facts = { ...base, executions: [] };
    expect(afterRefusal(facts, attempt(isRepeat), { code, status })).toEqual(after && { ...facts, ...after });
  });

  test("is this purchase's execution, with the state that was read after it", () => {
    const followed = "exe_1";
    expect(afterExecution({ ...base, executions: [] }, execution)).toEqual({ ...base, followed, executions: [execution] });
    const failed = { ...execution, settlementStatus: "failed" } as const;
    const facts: Facts = { ...base, executions: [failed] };
    expect(afterExecution(facts, execution)).toEqual({ ...facts, followed });
    const read: Facts = { ...base, executions: [execution] };
    expect(afterReading(read, failed)).toEqual({ ...facts, followed });
  });
});

test("a payment that another call made and that fails while this call waits is not followed by another attempt", async () => {
  const facts = factsOf({ authorization: "allowed", executions: [{ ...execution, settlementStatus: "processing" }] } as object);
  const taken: string[] = [];
  const end = await follow(facts, {
    outcome: async (_, now) => (taken.push("outcome"), afterReading(now, { ...execution, settlementStatus: "failed" })),
    sign: async () => (taken.push("sign"), null),
  });
  expect([taken, end.step]).toMatchObject([["outcome"], { step: "ended", why: "failed" }]);
});

test.each(cases.samePurchase)("the same purchase: $name", ({ intent, isSame }) => {
  expect(samePurchase([{ intent }], cases.terms) !== undefined).toBe(isSame);
});
