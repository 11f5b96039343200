import { atAddress, call } from "#lib/http/client.ts";
import type * as identity from "#lib/identity/keys/contract.ts";
import type * as mandates from "#lib/mandates/contract.ts";
import type * as payments from "#lib/payments/contract.ts";
import type * as sellers from "#lib/sellers/contract.ts";
import type { StepId } from "#lib/pages/progress.ts";

const get = { method: "GET" } as const;
const listServiceAccounts = atAddress<typeof identity.listServiceAccounts>({
  ...get,
  id: "listServiceAccounts",
  path: "/api/v1/auth/service-accounts",
});
const listMandates = atAddress<typeof mandates.listMandates>({ ...get, id: "listMandates", path: "/api/v1/mandates" });
const listPayments = atAddress<typeof payments.listPayments>({ ...get, id: "listPayments", path: "/api/v1/payments" });
const listSellers = atAddress<typeof sellers.listSellers>({ ...get, id: "listSellers", path: "/api/v1/sellers" });
const listResources = atAddress<typeof sellers.listResources>({
  ...get,
  id: "listResources",
  path: "/api/v1/seller/resources",
});

const settled = { limit: "1", settlementStatus: "settled" } as const;
const one = { query: { limit: "1" } } as const;
const some = { query: { limit: "20" } } as const;

/** For each step, a check whether it is done. The check uses the operation that lists the objects which the step creates. */
export const checks: Readonly<Record<StepId, (options: { readonly signal: AbortSignal }) => Promise<boolean>>> = {
  key: async (options) => (await call(listServiceAccounts, one, options)).items.length > 0,
  mandate: async (options) => (await call(listMandates, one, options)).items.length > 0,
  activation: async (options) => (await call(listMandates, some, options)).items.some(({ status }) => status !== "draft"),
  authorization: async (options) =>
    (await call(listPayments, some, options)).items.some(({ authorization }) => authorization.policyDecision.outcome !== "deny"),
  payment: async (options) => (await call(listPayments, { query: settled }, options)).items.length > 0,
  approval: async (options) =>
    (await call(listPayments, { query: { ...settled, outcome: "requireApproval" } }, options)).items.length > 0,
  seller: async (options) => (await call(listSellers, one, options)).items.length > 0,
  resource: async (options) => (await call(listResources, one, options)).items.length > 0,
};
