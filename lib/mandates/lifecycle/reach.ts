import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Window } from "#lib/mandates/policy/windows.ts";
import { type Atomic, atomicOf, max, min, UNIT_DECIMALS, zero } from "#lib/money.ts";
import { DAY_MS } from "#lib/time.ts";

/** A budget of less than a day is new again several times in 24 hours; null if the window limits no amount. */
function ofADay(window: Window): Atomic | null {
  if (window.limit === undefined) return null;
  const times = window.kind === "rolling" ? Math.max(1, Math.ceil(DAY_MS / window.spanMs)) : 1;
  return atomicOf(window.limit * BigInt(times));
}

/** A rate below 1 lets more whole assets through than the limits say. */
function wholeAssets(rates: ReadonlyMap<string, Atomic> | null, amount: Atomic): Atomic {
  const one = 10n ** BigInt(UNIT_DECIMALS);
  return [...(rates?.values() ?? [])].map((rate) => atomicOf((amount * one + rate - 1n) / rate)).reduce(max, amount);
}

type Limits = Pick<CompiledPolicy, "approval" | "perPayment" | "total" | "windows" | "rates">;

/** The most that a mandate pays in 24 hours without asking a person: the least of its total and budgets, if it does not always ask. */
export function reachOf({ approval, perPayment, total, windows, rates }: Limits): Atomic {
  if (approval.mode === "always") return zero;
  const bounds = [total, ...windows.map(ofADay)].filter((bound) => bound !== null);
  return wholeAssets(rates, bounds.length === 0 ? perPayment : bounds.reduce(min));
}
