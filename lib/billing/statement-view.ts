import type { Fee, FeeSchedule, Subscription } from "#lib/billing/billing-schema.ts";

/** The fees that an organization owes for a month in one asset, as decimal text. */
export type StatementLine = {
  readonly month: string;
  readonly asset: string;
  readonly asBuyer: string;
  readonly asSeller: string;
  readonly total: string;
  readonly payments: number;
};

export type StatementView = {
  /** A UTC month, such as 2026-11; `current` is the month that it is now. */
  readonly month: string;
  readonly current: string;
  readonly lines: readonly StatementLine[];
  /** The fees of the last twelve months, including the current one, newest first, without months that have no fees. */
  readonly history: readonly StatementLine[];
  /** The gross amounts that the organization paid in the chosen month, by asset. */
  readonly volumes: readonly { readonly asset: string; readonly gross: string }[];
  readonly fees: readonly Fee[];
  readonly nextCursor?: string;
  readonly subscription?: Subscription;
  /** Fee schedules that can apply to the organization, and the built-in schedule. */
  readonly schedules: readonly FeeSchedule[];
};
