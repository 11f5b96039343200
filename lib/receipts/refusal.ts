/** The steps of a verification, in order. A verification stops at the first step that fails. */
export const checkedSteps = ["receipt", "leaf", "event", "inclusion", "log", "head"] as const;
export type Step = (typeof checkedSteps)[number];

/** Why a step failed, in one sentence. */
export class Refusal extends Error {}
