import type { StepUpFacts } from "#lib/approvals/decision/approval.ts";
import type { ApprovalRow, CheckoutRow, ReviewRow } from "#lib/approvals/checkout-rows.ts";
import type { Risk } from "#lib/approvals/decision/risk-store.ts";
import type { Hold } from "#lib/holds/hold-store.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** A batch reads these facts after it has locked the checkout; the confirmation page reads them without a lock. */
export type LockedCheckout = {
  readonly checkout: CheckoutRow;
  readonly approval: ApprovalRow | null;
  readonly review: ReviewRow | null;
  readonly stepUp: StepUpFacts;
  readonly risk: Risk;
  readonly stepUpId: string | null;
  /** Null without a session. */
  readonly approverEmail: string | null;
  /** The assurance level of the approval or, before there is one, the level that an approval would have now. */
  readonly assuranceLevel: AssuranceLevel;
  readonly agentLive: boolean;
  /** The mandate's version under which a person allowed this payment once; null if the payment used no waiver. */
  readonly waivedVersion: number | null;
  readonly held: Hold | null;
};
