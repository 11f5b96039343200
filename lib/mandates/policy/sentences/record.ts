import { fixed, sentence } from "#lib/mandates/policy/sentences/sentence.ts";

export const anyPayee = fixed(
  106,
  "satisfied",
  "records",
  "The policy admits payments that are made elsewhere to any payee.",
  "/records/payees",
);
export const payeeListed = fixed(
  107,
  "satisfied",
  "records",
  "The policy admits payments that are made elsewhere to this payee.",
  "/records/payees",
);
export const payeeApproved = fixed(108, "satisfied", "records", "A person approved this payment that is made elsewhere.");
export const asksRecords = fixed(
  109,
  "approval_required",
  "records",
  "A person is asked, because the policy names no payees of payments that are made elsewhere.",
  "/records",
);
export const asksPayee = fixed(
  110,
  "approval_required",
  "records",
  "A person is asked, because the policy does not name this payee of payments that are made elsewhere.",
  "/records/payees",
);
export const referenceUsed = sentence(
  111,
  "nonce_reused",
  "intent.reference",
  (_, reference: string, authorizationId: string) => ({
    message: `The reference ${reference} of this payee was authorized before, as ${authorizationId}. Another spelling is the same reference.`,
    pointer: "/intent/reference",
  }),
);
