import { atAddress, call } from "#lib/http/client.ts";
import type * as identity from "#lib/identity/keys/contract.ts";
import type * as mandates from "#lib/mandates/contract.ts";
import type * as payments from "#lib/payments/contract.ts";
import type * as sellers from "#lib/sellers/contract.ts";
import type { StepId } from "#lib/pages/settings/progress.ts";

const get = { method: "GET" } as const;
const listServiceAccounts = atAddress<typeof identity.listServiceAccounts>({
  ...get,
  id: "listServiceAccounts",
  path: "/api/v1/auth/service-accounts",
});
const listMandates = atAddress<typeof mandates.listMandates>({ ...get, id: "listMandates", path: "/api/v1/mandates" });
const listPayments = atAddress<typeof payments.listPayments>({ ...get, id: "listPayments", path: "/api/v1/payments" });
const listSellers = atAddress<typeof sellers.listSellers>({ ...get, id: "listSellers", path: "/api/v1/sellers" });
const listResources = atAddress<typeof sellers.listResources>({ ...get, id: "listResources", path: "/api/v1/seller/resources" });

type Options = { readonly signal: AbortSignal };
type Filter = { readonly outcome?: "allow" | "requireApproval"; readonly settlementStatus?: "settled" };

const settled = { settlementStatus: "settled" } as const;
const one = { query: { limit: "1" } } as const;

const anyPayment = async (filter: Filter, options: Options): Promise<boolean> =>
  (await call(listPayments, { query: { ...filter, limit: "1" } }, options)).items.length > 0;

export const checks: Readonly<Record<StepId, (options: Options) => Promise<boolean>>> = {
  key: async (options) => (await call(listServiceAccounts, one, options)).items.length > 0,
  mandate: async (options) => (await call(listMandates, one, options)).items.length > 0,
  activation: async (options) => {
    const { items } = await call(listMandates, { query: { limit: "100" } }, options);
    return items.some(({ status }) => status !== "draft");
  },
  authorization: async (options) =>
    (await anyPayment({ outcome: "allow" }, options)) || (await anyPayment({ outcome: "requireApproval" }, options)),
  payment: (options) => anyPayment(settled, options),
  approval: (options) => anyPayment({ ...settled, outcome: "requireApproval" }, options),
  seller: async (options) => (await call(listSellers, one, options)).items.length > 0,
  resource: async (options) => (await call(listResources, one, options)).items.length > 0,
};
