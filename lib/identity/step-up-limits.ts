/**
 * If an approval exceeds one of these amounts, the person must prove their identity again (step-up). The amounts are in whole
 * units of the payment's asset.
 */
export type StepUpLimits = {
  readonly above: string;
  /** The limit for payees that are not verified. */
  readonly aboveUnverified: string;
};

/** The limits of organizations that have not set their own. */
export const defaultStepUpLimits: StepUpLimits = { above: "100", aboveUnverified: "25" };
