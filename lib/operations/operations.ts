import * as alerts from "#lib/alerts/contract.ts";
import * as audit from "#lib/audit/contract.ts";
import * as billing from "#lib/billing/contract.ts";
import * as readiness from "#lib/commerce/readiness-contract.ts";
import * as orders from "#lib/commerce/order-contract.ts";
import * as approvals from "#lib/approvals/decision/contract.ts";
import * as cards from "#lib/cards/contract.ts";
import * as commerce from "#lib/commerce/checkout-contract.ts";
import * as health from "#lib/health/contract.ts";
import type { Operation } from "#lib/http/operation.ts";
import * as keys from "#lib/identity/keys/contract.ts";
import * as oauth from "#lib/identity/oauth/contract.ts";
import * as sessions from "#lib/identity/sessions/contract.ts";
import * as members from "#lib/identity/members/contract.ts";
import * as passkeys from "#lib/identity/passkeys/contract.ts";
import * as mandates from "#lib/mandates/contract.ts";
import * as onchain from "#lib/onchain/registry/contract.ts";
import * as registrations from "#lib/onchain/registry/registration-contract.ts";
import * as notices from "#lib/notices/contract.ts";
import * as payments from "#lib/payments/contract.ts";
import * as records from "#lib/payments/executions/record-contract.ts";
import * as receipts from "#lib/payments/receipts/contract.ts";
import * as platform from "#lib/platform/contract.ts";
import * as push from "#lib/push/contract.ts";
import * as sandbox from "#lib/sandbox/contract.ts";
import * as search from "#lib/search/contract.ts";
import * as sellers from "#lib/sellers/contract.ts";
import * as payTos from "#lib/sellers/pay-to/contract.ts";
import * as settlements from "#lib/settlement/contract.ts";
import * as webhooks from "#lib/webhooks/contract.ts";

/** The exports of all contracts, schemas too. Each operation is exported under its id. */
const exported = {
  ...payments,
  ...records,
  ...receipts,
  ...settlements,
  ...sandbox,
  ...commerce,
  ...orders,
  ...readiness,
  ...mandates,
  ...alerts,
  ...sellers,
  ...payTos,
  ...search,
  ...billing,
  ...sessions,
  ...keys,
  ...oauth,
  ...approvals,
  ...members,
  ...passkeys,
  ...notices,
  ...push,
  ...platform,
  ...onchain,
  ...registrations,
  ...audit,
  ...webhooks,
  ...cards,
  ...health,
};

type Exported = typeof exported;

export type OperationId = { [K in keyof Exported]: Exported[K] extends Operation ? K : never }[keyof Exported];

const isOperation = (value: unknown): value is Operation =>
  typeof value === "object" && value !== null && "path" in value && "access" in value;

export const operations: readonly Operation[] = Object.values<unknown>(exported).filter(isOperation);
