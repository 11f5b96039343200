/** The facts of an alert, at the time when its cause was found. Amounts are display text. */
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
  | { readonly kind: "lowBalance"; readonly chain: string; readonly key: string; readonly address: string };

/** An alert to store. It may be stored already. */
export type FoundAlert = {
  readonly organizationId: string | null;
  readonly subjectId: string;
  readonly window: string;
  readonly threshold: number;
  readonly facts: AlertFacts;
  readonly dueAt: Date;
  readonly status: "waiting" | "dropped";
};
