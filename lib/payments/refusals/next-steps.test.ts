import { describe, expect, test } from "vitest";
import { DenialCode } from "#lib/vocabulary.ts";
import { nextStepsOf, type NextFacts } from "#lib/payments/refusals/next-steps.ts";

const facts: NextFacts = {
  stage: { of: "settlement", status: "settled" },
  byCard: false,
  denialCode: null,
  authorizationId: "aut_1",
  mandateId: "mdt_1",
  confirmPath: "/checkout/cki_1",
  may: { decide: true, manage: true },
};
const hrefs = (change: Partial<NextFacts>) => nextStepsOf({ ...facts, ...change }).links.map(({ href }) => href);
const asks = { of: "outcome", status: "requireApproval" } as const;
const denied = { of: "outcome", status: "deny" } as const;

describe("the next action that a person can take", () => {
  test("is to decide, for people with that right; other people see who can decide", () => {
    expect(hrefs({ stage: asks })).toEqual(["/checkout/cki_1"]);
    const other = nextStepsOf({ ...facts, stage: asks, may: { decide: false, manage: false } });
    expect(other).toMatchObject({ links: [], text: expect.stringContaining("approver decides") as string });
    expect(hrefs({ stage: asks, confirmPath: null })).toEqual([]);
  });

  test("is to change the rule that denied, for people with that right; other people see the rule and who can change it", () => {
    const limit = { stage: denied, denialCode: "per_payment_limit_exceeded" };
    expect(hrefs(limit)).toEqual(["/mandates/mdt_1/edit"]);
    const other = { ...limit, may: { decide: false, manage: false } };
    expect(hrefs(other)).toEqual(["/mandates/mdt_1"]);
    expect(nextStepsOf({ ...facts, ...other }).text).toContain("An owner or admin can change the mandate.");
    expect(hrefs({ stage: denied, denialCode: "agent_inactive" })).toEqual(["/settings/keys"]);
    expect(hrefs({ stage: denied, denialCode: "challenge_mismatch" })).toEqual([]);
  });

  test("is the change of the mandate that prevents the denial, before all others, for people who may change the mandate", () => {
    const fix = { href: "/mandates/mdt_1/edit?fix=pd_1", label: "Raise the day’s limit to 12.00 USDC" };
    const limit = { stage: denied, denialCode: "period_budget_exceeded", fix } as const;
    const [first, second] = nextStepsOf({ ...facts, ...limit }).links;
    expect(first).toEqual({ href: fix.href, label: `Fix it: ${fix.label}`, primary: true });
    expect(second?.href).toBe("/mandates/mdt_1/edit");
    expect(hrefs({ ...limit, may: { decide: true, manage: false } })).toEqual(["/mandates/mdt_1"]);
    const passes = nextStepsOf({ ...facts, ...limit, fix: "passes" });
    expect(passes).toMatchObject({ links: [], text: expect.stringContaining("Ask again") as string });
  });

  test("is nothing while the settlement is not final, and never to pay again", () => {
    for (const status of ["pending", "processing", "unknown"] as const) {
      const { text, links } = nextStepsOf({ ...facts, stage: { of: "settlement", status } });
      expect(text).toMatch(/^You need to do nothing/);
      expect(links).toEqual([]);
    }
  });

  test("is to read the receipt or to forbid the seller once the payment is settled", () => {
    expect(hrefs({})).toEqual(["/payments/aut_1/receipt", "/mandates/mdt_1/edit"]);
  });

  test.each([
    ...DenialCode.options.map((denialCode) => ({ stage: denied, denialCode })),
    { stage: { of: "reservation", status: "held" } as const },
    { stage: { of: "reservation", status: "expired" } as const },
    ...(["submitted", "captured", "released"] as const).map((status) => ({
      stage: { of: "reservation", status } as const,
      byCard: true,
    })),
    { stage: { of: "checkout", status: "rejected" } as const },
    { stage: { of: "checkout", status: "approved" } as const },
    { stage: { of: "settlement", status: "failed" } as const },
  ])("is described in sentences: %j", (change) => {
    expect(nextStepsOf({ ...facts, ...change }).text).toMatch(/^[A-Z].*[.]$/);
  });
});
