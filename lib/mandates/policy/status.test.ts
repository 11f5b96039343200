import { describe, expect, test } from "vitest";
import { statusOf, stepFrom, type Step } from "#lib/mandates/policy/status.ts";
import type { StoredMandateStatus } from "#lib/vocabulary.ts";
import { at, mandateOf, NOW, usdc } from "#test/mandate-facts.ts";

const statuses: StoredMandateStatus[] = ["draft", "active", "suspended", "revoked"];
const steps: Step[] = ["activate", "suspend", "resume", "revoke"];

/** Every valid transition, except those to the same status. */
const listed: Record<string, StoredMandateStatus> = {
  "draft activate": "active",
  "active suspend": "suspended",
  "suspended resume": "active",
  "draft revoke": "revoked",
  "active revoke": "revoked",
  "suspended revoke": "revoked",
};
const already = new Set(["active activate", "active resume", "suspended suspend", "revoked revoke"]);

describe("stepFrom", () => {
  test.each(statuses.flatMap((status) => steps.map((step) => [status, step] as const)))(
    "a mandate that is %s, and the step %s",
    (status, step) => {
      const name = `${status} ${step}`;
      if (already.has(name)) expect(stepFrom(status, step)).toBeNull();
      else if (listed[name]) expect(stepFrom(status, step)?.to).toBe(listed[name]);
      else expect(() => stepFrom(status, step)).toThrow(/^This is an? [a-z ]+, and only an? [a-z ]+ can be [a-z]+\.$/);
    },
  );
});

describe("statusOf", () => {
  const used = (spent: string, reserved: string) => ({ spent: usdc(spent), reserved: usdc(reserved) });
  const { policy } = mandateOf({ validUntil: at(1).toISOString() });

  test("an active mandate is expired from validUntil on, and exhausted when no budget is left", () => {
    expect(statusOf("active", policy, used("99", "0.999999"), NOW)).toBe("active");
    expect(statusOf("active", policy, used("99", "1"), NOW)).toBe("exhausted");
    expect(statusOf("active", policy, used("0", "0"), at(1))).toBe("expired");
  });

  test.each(["draft", "suspended", "revoked"] as const)("a mandate that is %s stays so", (status) => {
    expect(statusOf(status, policy, used("100", "0"), at(1))).toBe(status);
  });
});
