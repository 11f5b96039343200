import type { ReactElement } from "react";
import { expect, test } from "vitest";
import { Result } from "#components/payments/rules-panel.tsx";
import { PERSON_APPROVED } from "#lib/mandates/policy/sentences-limits.ts";

const asksAbove = "The policy asks a person before payments above 10.00 USDC.";

test.each([
  ["Approved", PERSON_APPROVED, "43"],
  // A person may also approve a payment below the limit, for example if an order asks for it.
  ["Approved", PERSON_APPROVED, "2"],
  ["Not needed", asksAbove, "2"],
])("the rule about approval is shown as %s: %s", (word, message, requested) => {
  const reason = { code: "satisfied", rule: "approval", effect: "allow", policyVersion: 1, limit: "10", unit: "USDC" } as const;
  const { props } = Result({ ...reason, message, requested }) as ReactElement<{ readonly children: string }>;
  expect(props.children).toBe(word);
});
