import type { ProductRole, Capability } from "#lib/vocabulary.ts";

/** What a new organization does first, in order. Each is done as soon as what it makes exists. */
export const stepIds = ["key", "mandate", "activation", "authorization", "seller", "resource"] as const;
export type StepId = (typeof stepIds)[number];

export type Progress = Readonly<Record<StepId, boolean>>;

type Step = {
  /** The steps of buyers and of sellers are for organizations that buy or sell. */
  readonly productRole: ProductRole;
  /** Who may see whether it is done. */
  readonly sees: Capability;
  /** Who may do it. */
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
