import type { Failure } from "#lib/x402/failure.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";

/** The allowed transitions. A database trigger also refuses all others. */
export const transitions: Readonly<Record<SettlementStatus, readonly SettlementStatus[]>> = {
  pending: ["processing", "settled", "failed"],
  processing: ["settled", "failed", "unknown"],
  unknown: ["settled", "failed"],
  /** A settled execution goes back only while its transfer is not final, and only if the chain no longer has the transfer. */
  settled: ["processing", "pending"],
  failed: [],
};

export const mayBecome = (from: SettlementStatus, to: SettlementStatus): boolean => transitions[from].includes(to);

/** Among findings, only a final "settled" captures the hold (reserved amount), and only "failed" releases it. */
export type Finding =
  /** The transfer is on the chain. If `final` is false, a reorganization may still revert it. */
  | { readonly kind: "settled"; readonly transaction: string; readonly final?: boolean }
  /** A reorganization reverted the transfer. `back` is pending if the seller settles, and processing if this service does. */
  | { readonly kind: "forgotten"; readonly back: "processing" | "pending" }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** A transaction is known but not final. `received` means that it is in a block with too few confirmations. */
  | { readonly kind: "broadcast"; readonly transaction: string; readonly received?: boolean }
  /** `transaction` was reverted; nobody sends it again, but anybody could. */
  | { readonly kind: "unknown"; readonly detail: string; readonly transaction?: string }
  | { readonly kind: "waiting" };

export type Step = { readonly status: SettlementStatus; readonly changes: boolean };

/** A finding that the status does not allow changes nothing, such as a repeated one. */
export function stepOf(from: SettlementStatus, finding: Finding): Step {
  const to = aimOf(from, finding);
  return to !== from && mayBecome(from, to) ? { status: to, changes: true } : { status: from, changes: false };
}

function aimOf(from: SettlementStatus, finding: Finding): SettlementStatus {
  // A settled execution cannot fail directly: first a check (finding) must say that the chain no longer has the transfer.
  if (finding.kind === "settled" || (finding.kind === "failed" && from !== "settled")) return finding.kind;
  if (finding.kind === "unknown" && from !== "settled") return "unknown";
  if (finding.kind === "forgotten" && from === "settled") return finding.back;
  return from;
}
