/** In units of the payment's asset. An approval, with those of the last day, that exceeds the limit needs a step-up. */
export type StepUpLimits = {
  readonly above: string;
  readonly aboveUnverified: string;
};

export const defaultStepUpLimits: StepUpLimits = { above: "100", aboveUnverified: "25" };
