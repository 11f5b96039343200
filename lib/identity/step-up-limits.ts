/**
 * If an approval exceeds the limit for its payee, the person must prove their identity again (step-up). The limits are in whole
 * units of the payment's asset.
 */
export type StepUpLimits = {
  /** The limit for all payees. */
  readonly above: string;
  /** The limit for payees that are not verified. */
  readonly aboveUnverified: string;
};

/** The limits of organizations that have not set their own. */
export const defaultStepUpLimits: StepUpLimits = { above: "100", aboveUnverified: "25" };
