import type { Failure } from "#lib/x402/failure.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";

/** The listed transitions; a trigger refuses the others too. */
export const transitions: Readonly<Record<SettlementStatus, readonly SettlementStatus[]>> = {
  pending: ["processing", "settled", "failed"],
  processing: ["settled", "failed", "unknown"],
  unknown: ["settled", "failed"],
  settled: [],
  failed: [],
};

export const mayBecome = (from: SettlementStatus, to: SettlementStatus): boolean => transitions[from].includes(to);

export const isFinal = (status: SettlementStatus): boolean => transitions[status].length === 0;

/** What is known about a credential that left our hands. Only settled and failed rest on evidence, and only they resolve its hold. */
export type Finding =
  | { readonly kind: "settled"; readonly transaction: string }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** A transaction is known and not final. Received: a block has it, which is not deep enough. */
  | { readonly kind: "broadcast"; readonly transaction: string; readonly received?: boolean }
  | { readonly kind: "unknown"; readonly detail: string }
  | { readonly kind: "waiting" };

export type Step = { readonly status: SettlementStatus; readonly changes: boolean };

/** What a finding makes of an execution. A finding that comes too late, or says nothing new, changes nothing. */
export function stepOf(from: SettlementStatus, finding: Finding): Step {
  const to = aimOf(from, finding);
  return to !== from && mayBecome(from, to) ? { status: to, changes: true } : { status: from, changes: false };
}

function aimOf(from: SettlementStatus, finding: Finding): SettlementStatus {
  if (finding.kind === "settled" || finding.kind === "failed") return finding.kind;
  if (finding.kind === "unknown") return "unknown";
  return from;
}
