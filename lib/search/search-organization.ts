import type { Scope } from "#lib/db/scope.ts";
import type { Handler } from "#lib/http/operation.ts";
import type { Found, searchOrganization as operation } from "#lib/search/contract.ts";
import { mandatesLike, paymentsOfId, resourcesLike } from "#lib/search/store.ts";

const findMandates = async (scope: Scope, text: string): Promise<Found[]> =>
  (await mandatesLike(scope, text)).map((found) => ({ type: "mandate", ...found }));

const findPayments = async (scope: Scope, text: string): Promise<Found[]> =>
  (await paymentsOfId(scope, text)).map(({ id, outcome, domain }) => ({
    type: "payment",
    id,
    name: domain ?? "Payment",
    status: outcome,
  }));

const findResources = async (scope: Scope, text: string): Promise<Found[]> =>
  (await resourcesLike(scope, text)).map(({ id, sellerId, method, pathTemplate }) => ({
    type: "resource",
    id,
    sellerId,
    name: `${method} ${pathTemplate}`,
    status: "live",
  }));

export const searchOrganization: Handler<typeof operation> = async ({ query: { q } }, { caller }) => {
  const { organizationId, environment, capabilities } = caller;
  if (organizationId === null) return { items: [] };
  const scope = { organizationId, environment };
  const found = await Promise.all([
    capabilities.has("mandates:read") ? findMandates(scope, q) : [],
    capabilities.has("payments:read") ? findPayments(scope, q) : [],
    capabilities.has("sellers:read") ? findResources(scope, q) : [],
  ]);
  return { items: found.flat() };
};
