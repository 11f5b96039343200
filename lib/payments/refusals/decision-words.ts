import type { FailureCode } from "#lib/x402/failure.ts";

/* Explains the rules of decisions and the failures of payments to people. Pure and browser-safe. */

/** The titles of rules on a payment's page, by the rule's name in a reason. */
export const rules: Readonly<Record<string, string>> = {
  emergency: "Not stopped by the platform",
  status: "Mandate is active",
  validFrom: "Start of the mandate",
  validUntil: "End of the mandate",
  agents: "Agents of the mandate",
  agent: "Agent is active",
  minimumAssuranceLevel: "Confirmation by a person",
  "intent.expiresAt": "Time of the request",
  "intent.amount": "Amount",
  "intent.registration": "Registered facts",
  "intent.challenge": "The seller’s challenge",
  "intent.intentId": "Request is new",
  "intent.nonce": "Nonce is new",
  assets: "Asset and network",
  rails: "Kind of payment",
  records: "Payees of payments made elsewhere",
  cards: "Merchants of cards",
  "intent.reference": "Reference",
  protocol: "Payment protocol",
  sellers: "Sellers",
  requireVerifiedSeller: "Verified seller",
  payTo: "Payee’s address",
  domains: "Domains",
  resources: "Resources",
  schedule: "Schedule",
  "limits.perPayment": "Per payment",
  "limits.total": "Total",
  "limits.budgets": "Budget",
  "limits.counts": "Number of payments",
  "limits.cooldownSeconds": "Time between payments",
  maximumFee: "Service fee",
  approval: "Ask a person",
};

/** Of payments that this service does not make itself. */
export const outsideWords = {
  elsewhere: {
    submitted: {
      title: "Made elsewhere",
      text: "It is paid elsewhere and recorded here. The amount stays held until a person or another key closes it.",
    },
    captured: { title: "Closed", text: "What was recorded as paid counts. The rest is free again." },
  },
  card: {
    submitted: {
      title: "Approved",
      text: "Stripe was told yes. The amount stays held until Stripe captures it or says that it will not.",
    },
    captured: { title: "Captured", text: "What Stripe captured counts. The rest is free again." },
    taken: {
      title: "Paid nevertheless",
      text: "Stripe did not follow the answer. What it took counts, also above the limits of the mandate.",
    },
  },
} as const;

export const ruleName = (rule: string): string => rules[rule] ?? rule;

export const failures: Readonly<Record<FailureCode, string>> = {
  insufficient_funds: "The paying wallet did not hold enough. Send it more; the agent then signs again.",
  credential_malformed: "The agent’s credential could not be read. The agent signs a new one.",
  credential_expired: "The agent’s credential had expired. The agent signs a new one.",
  credential_not_yet_valid: "The agent’s credential was not valid yet. The agent signs a new one.",
  signature_invalid: "The signature of the credential is wrong. The agent signs a new one.",
  signer_mismatch: "Another wallet signed than the one that the mandate names.",
  amount_mismatch: "The credential pays another amount than was authorized.",
  recipient_mismatch: "The credential pays somebody else than was authorized.",
  network_mismatch: "The credential is for another network than was authorized.",
  asset_mismatch: "The credential pays in another token than was authorized.",
  token_domain_mismatch: "The credential is signed for another token than was authorized.",
  nonce_already_used: "The credential was used for something else before.",
  scheme_unsupported: "The agent signed a kind of credential that cannot be used here.",
  verification_failed: "The credential could not be verified.",
  settlement_rejected: "The payment was not settled: its credential expired, was cancelled or was refused. Nothing was paid.",
  transaction_reverted: "The network undid the transaction. Nothing was paid.",
};

export const isFailure = (code: string | null | undefined): code is FailureCode =>
  code !== null && code !== undefined && code in failures;
