/** A sign-in or proof of identity counts as recent for this time, except for changes of passkeys (PROVED_MS). */
export const FRESH_SESSION_MS = 15 * 60_000;

/** In units of the payment's asset. An approval, with those of the last day, that exceeds the limit needs a step-up. */
export type StepUpLimits = {
  readonly above: string;
  readonly aboveUnverified: string;
};

export const defaultStepUpLimits: StepUpLimits = { above: "100", aboveUnverified: "25" };
