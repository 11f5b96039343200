/** In whole units of the payment's asset; an approval above the limit needs a new proof of identity (step-up). */
export type StepUpLimits = {
  readonly above: string;
  /** The limit for payees that are not verified. */
  readonly aboveUnverified: string;
};

export const defaultStepUpLimits: StepUpLimits = { above: "100", aboveUnverified: "25" };
