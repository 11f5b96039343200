import { statusAt } from "#lib/approvals/present-checkout.ts";
import { database } from "#lib/db/client.ts";
import type { Scope } from "#lib/db/scope.ts";
import type { Handler } from "#lib/http/operation.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import { displayAmount } from "#lib/money.ts";
import { readSearch } from "#lib/payments/payment-filter.ts";
import { idsOf } from "#lib/payments/search-store.ts";
import type { Found, searchOrganization as operation } from "#lib/search/contract.ts";
import {
  agentsLike,
  mandatesLike,
  membersLike,
  payeesLike,
  paymentsOf,
  requestsLike,
  resourcesLike,
  sellersLike,
} from "#lib/search/store.ts";

type Find = (scope: Scope, text: string) => Promise<Found[]>;

const findMandates: Find = async (scope, text) =>
  (await mandatesLike(scope, text)).map((found) => ({ type: "mandate", ...found }));

/** The amounts and domains that the payments page also finds are left out, because they are no names of one payment. */
const findPayments: Find = async (scope, text) => {
  const ids = (await idsOf(database(), scope, readSearch(text) ?? undefined)) ?? [];
  if (ids.length === 0) return [];
  const rows = await paymentsOf(scope, ids);
  return rows.map(({ id, outcome, domain }) => ({ type: "payment", id, name: domain ?? "Payment", status: outcome }));
};

const findPayees: Find = async (scope, text) =>
  (await payeesLike(scope, text)).map(({ domain, paid }) => ({
    type: "payee",
    id: domain,
    name: domain,
    status: paid ? "paid" : "asked",
  }));

const findRequests: Find = async (scope, text) =>
  (await requestsLike(scope, text)).map(({ now, ...row }) => ({
    type: "request",
    id: row.id,
    name: `${displayAmount(row.amount, row.tokenDecimals, row.asset)} to ${row.domain}`,
    status: statusAt(row, now),
  }));

const findAgents: Find = async (scope, text) =>
  (await agentsLike(scope, text)).map(({ id, name, revokedAt, pausedAt }) => ({
    type: "agent",
    id,
    name,
    status: revokedAt ? "revoked" : pausedAt ? "paused" : "active",
  }));

const findMembers: Find = async ({ organizationId }, text) =>
  (await membersLike(organizationId, text)).map(({ role, ...found }) => ({
    type: "member",
    ...found,
    status: membershipRoleOf(role),
  }));

const findSellers: Find = async (scope, text) =>
  (await sellersLike(scope, text)).map((found) => ({ type: "seller", ...found, status: "live" }));

const findResources: Find = async (scope, text) =>
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
  const may = (...one: Parameters<typeof capabilities.has>[0][]) => one.some((capability) => capabilities.has(capability));
  const found = await Promise.all([
    may("mandates:read") ? findMandates(scope, q) : [],
    may("checkouts:read", "checkouts:approve") ? findRequests(scope, q) : [],
    may("payments:read") ? findPayees(scope, q) : [],
    may("payments:read") ? findPayments(scope, q) : [],
    may("serviceAccounts:read") ? findAgents(scope, q) : [],
    // Every member may read the page of the members.
    findMembers(scope, q),
    may("sellers:read") ? findSellers(scope, q) : [],
    may("sellers:read") ? findResources(scope, q) : [],
  ]);
  return { items: found.flat() };
};
