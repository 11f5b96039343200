import type { Failure } from "#lib/x402/failure.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";

/** The listed transitions; a trigger refuses the others too. */
export const transitions: Readonly<Record<SettlementStatus, readonly SettlementStatus[]>> = {
  pending: ["processing", "settled", "failed"],
  processing: ["settled", "failed", "unknown"],
  unknown: ["settled", "failed"],
  /** Until the chain's finality, by evidence alone. */
  settled: ["processing", "pending"],
  failed: [],
};

export const mayBecome = (from: SettlementStatus, to: SettlementStatus): boolean => transitions[from].includes(to);

/** What is known about a credential that left our hands. Only settled and failed rest on evidence, and only they resolve its hold. */
export type Finding =
  /** Final, unless it is said that a reorganization may still take it back. */
  | { readonly kind: "settled"; readonly transaction: string; readonly final?: boolean }
  /** Settled before, and the chain has forgotten it: the seller settles again, or we do. */
  | { readonly kind: "forgotten"; readonly back: "processing" | "pending" }
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
  // What was settled fails by way of processing: first the chain has to have forgotten it.
  if (finding.kind === "settled" || (finding.kind === "failed" && from !== "settled")) return finding.kind;
  if (finding.kind === "unknown" && from !== "settled") return "unknown";
  if (finding.kind === "forgotten" && from === "settled") return finding.back;
  return from;
}
