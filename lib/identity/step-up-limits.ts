/** The amounts above which an approval asks for a step-up, in whole units of the payment's asset. */
export type StepUpLimits = {
  readonly above: string;
  /** For payees that are not verified. */
  readonly aboveUnverified: string;
};

/** For organizations that have set none. */
export const defaultStepUpLimits: StepUpLimits = { above: "100", aboveUnverified: "25" };
