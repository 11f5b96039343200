import type { ProductRole, Capability } from "#lib/vocabulary.ts";

/** In order; a denied payment does not complete the step "authorization". */
export const stepIds = ["key", "mandate", "activation", "authorization", "payment", "approval", "seller", "resource"] as const;
export type StepId = (typeof stepIds)[number];

export type Progress = Readonly<Record<StepId, boolean>>;

type Step = {
  readonly productRole: ProductRole;
  /** The capability that a person needs to be shown the step and whether it is done. */
  readonly sees: Capability;
  readonly does: readonly Capability[];
  /** True: the step exists only in an installation with the sample sellers. False: only in one without. Absent: in both. */
  readonly samples?: boolean;
};

export const steps: Readonly<Record<StepId, Step>> = {
  key: { productRole: "buyer", sees: "serviceAccounts:read", does: ["serviceAccounts:manage"] },
  mandate: { productRole: "buyer", sees: "mandates:read", does: ["mandates:create"] },
  activation: { productRole: "buyer", sees: "mandates:read", does: ["mandates:manage"] },
  authorization: { productRole: "buyer", sees: "payments:read", does: ["payments:authorize"], samples: false },
  payment: { productRole: "buyer", sees: "payments:read", does: ["payments:authorize", "payments:execute"], samples: true },
  approval: { productRole: "buyer", sees: "payments:read", does: ["payments:authorize", "payments:execute"], samples: true },
  seller: { productRole: "seller", sees: "sellers:read", does: ["sellers:manage"] },
  resource: { productRole: "seller", sees: "sellers:read", does: ["resources:manage"] },
};

type Reader = {
  readonly productRoles: readonly ProductRole[];
  readonly capabilities: ReadonlySet<Capability>;
  readonly samples: boolean;
};

export const stepsFor = ({ productRoles, capabilities, samples }: Reader): readonly StepId[] =>
  stepIds.filter((id) => {
    const step = steps[id];
    return productRoles.includes(step.productRole) && capabilities.has(step.sees) && (step.samples ?? samples) === samples;
  });
