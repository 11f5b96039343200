import type { ProductRole, Capability } from "#lib/vocabulary.ts";

/** The first steps of a new organization, in order. A step is done as soon as the object that it creates exists. */
export const stepIds = ["key", "mandate", "activation", "authorization", "seller", "resource"] as const;
export type StepId = (typeof stepIds)[number];

export type Progress = Readonly<Record<StepId, boolean>>;

type Step = {
  /** Only organizations with this product role have the step. */
  readonly productRole: ProductRole;
  /** The capability that a person needs to see whether the step is done. */
  readonly sees: Capability;
  /** The capabilities that a person needs to do the step. */
  readonly does: readonly Capability[];
};

export const steps: Readonly<Record<StepId, Step>> = {
  key: { productRole: "buyer", sees: "serviceAccounts:read", does: ["serviceAccounts:manage"] },
  mandate: { productRole: "buyer", sees: "mandates:read", does: ["mandates:create"] },
  activation: { productRole: "buyer", sees: "mandates:read", does: ["mandates:manage"] },
  authorization: { productRole: "buyer", sees: "payments:read", does: ["payments:authorize"] },
  seller: { productRole: "seller", sees: "sellers:read", does: ["sellers:manage"] },
  resource: { productRole: "seller", sees: "sellers:read", does: ["resources:manage"] },
};

/** The steps that this person sees, in order. */
export const stepsFor = (productRoles: readonly ProductRole[], capabilities: ReadonlySet<Capability>): readonly StepId[] =>
  stepIds.filter((id) => productRoles.includes(steps[id].productRole) && capabilities.has(steps[id].sees));
