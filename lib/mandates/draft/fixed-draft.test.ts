import { expect, test } from "vitest";
import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import type { Change } from "#lib/mandates/draft/fix-denial.ts";
import { withChange } from "#lib/mandates/draft/fix-denial.ts";
import { fixedDraft } from "#lib/mandates/draft/fixed-draft.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";

const timezone = "Europe/Vienna";
const policy: Policy = {
  assets: [{ asset: "USDC", chain: "eip155:84532" }],
  limits: {
    perPayment: "1",
    budgets: [
      { rolling: "PT24H", amount: "9" },
      { period: "month", timezone, amount: "50" },
      { period: "day", timezone, amount: "5" },
    ],
    counts: [{ rolling: "PT1H", max: 3 }],
  },
  maximumFee: { bps: 100 },
  sellers: { allow: ["sel_1"] },
};
const [rolling, month, day] = policy.limits.budgets ?? [];
const [count] = policy.limits.counts ?? [];

test.each([
  [{ of: "perPayment", amount: "2" }, "perPayment"],
  [{ of: "budget", at: 2, span: day!, amount: "6" }, "day"],
  [{ of: "budget", at: 1, span: month!, amount: "60" }, "month"],
  [{ of: "budget", at: 0, span: rolling!, amount: "10" }, "more.0.value"],
  [{ of: "count", at: 0, span: count!, max: 4 }, "more.1.value"],
  [{ of: "feeShare", bps: 150 }, "fee.value"],
  [{ of: "seller", entry: "sel_2" }, "sellers.allow"],
  [{ of: "agent", subjectId: "sa_1" }, "agents"],
] satisfies [Change, string][])("%j is in the form at its field, and nothing else changes", (change, field) => {
  const fixed = withChange({ policy, agents: ["sa_0"] }, change);
  const { draft, fields } = fixedDraft({ name: "M", policy, agents: ["sa_0"] }, { ...fixed, changes: [change] });
  expect(fields).toEqual([field]);
  const { terms } = draftTermsOf(draft);
  const { limits, ...rest } = fixed.policy;
  expect(terms.policy).toMatchObject(rest);
  expect(terms.policy.limits.perPayment).toBe(limits.perPayment);
  for (const list of ["budgets", "counts"] as const)
    expect(terms.policy.limits[list]).toEqual(expect.arrayContaining([...(limits[list] ?? [])]));
  expect(terms.agents).toEqual(fixed.agents);
});
