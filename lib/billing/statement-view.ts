import type { Fee, FeeSchedule, Subscription } from "#lib/billing/billing-schema.ts";

/** The amounts owed in a month in one asset, by the side of the organization (buyer or seller). Decimal text. */
export type StatementLine = {
  readonly month: string;
  readonly asset: string;
  readonly asBuyer: string;
  readonly asSeller: string;
  readonly total: string;
  readonly payments: number;
};

export type StatementView = {
  /** UTC months, as in 2026-11. */
  readonly month: string;
  readonly current: string;
  /** The chosen month, one line for each asset. */
  readonly lines: readonly StatementLine[];
  /** The last twelve months that have fees, newest first. */
  readonly history: readonly StatementLine[];
  /** Gross payments in the chosen month, by asset. */
  readonly volumes: readonly { readonly asset: string; readonly gross: string }[];
  readonly fees: readonly Fee[];
  readonly nextCursor?: string;
  readonly subscription?: Subscription;
  /** The schedules that name the organization or its plan, and the built-in one. */
  readonly schedules: readonly FeeSchedule[];
};
