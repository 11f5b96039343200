import type { CompiledPolicy } from "#lib/mandates/compile-policy.ts";
import { min, zero, type Atomic } from "#lib/money.ts";

/** The most that a mandate pays at once without asking a person: the least of its total and budgets, if it does not always ask. */
export function reachOf({
  approval,
  perPayment,
  total,
  windows,
}: Pick<CompiledPolicy, "approval" | "perPayment" | "total" | "windows">): Atomic {
  if (approval.mode === "always") return zero;
  const bounds = [total, ...windows.map(({ limit }) => limit ?? null)].filter((bound) => bound !== null);
  return bounds.length === 0 ? perPayment : bounds.reduce(min);
}
