/** What people are asked about a payment that is made elsewhere or by card. */
export type Question =
  | { readonly kind: "record"; readonly asks: "exceeded" | "overdue" }
  | { readonly kind: "card"; readonly asks: "exceeded" | "outside" | "unconfirmed" | "clearance" };

/** The values are those at the time of the alert's creation; amounts are text for people, such as "43.00 USDC". */
export type AlertFacts =
  | {
      readonly kind: "budget";
      readonly mandateId: string;
      readonly name: string;
      readonly span: string;
      readonly used: string;
      readonly limit: string;
    }
  | { readonly kind: "refusals"; readonly mandateId: string; readonly name: string; readonly code: string }
  | { readonly kind: "unknown"; readonly executionId: string; readonly authorizationId: string; readonly amount: string }
  | (Question & { readonly authorizationId: string })
  | { readonly kind: "lowBalance"; readonly chain: string; readonly key: string; readonly address: string }
  | { readonly kind: "fewStandbys"; readonly names: string; readonly inSync: number };

export type FoundAlert = {
  readonly organizationId: string | null;
  readonly subjectId: string;
  readonly window: string;
  readonly threshold: number;
  readonly facts: AlertFacts;
  readonly dueAt: Date;
  readonly status: "waiting" | "dropped";
};
