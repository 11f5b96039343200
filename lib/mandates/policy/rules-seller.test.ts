import { describe, expect, test } from "vitest";
import { decideRow, PAY_TO, resource, seller, type RuleRow } from "#test/mandate-facts.ts";

const admitting = { sellers: { unregistered: "allow" } };
const unknown = { seller: null, resource: null, unregistered: { domain: "api.example.net", lacks: [] } };

const rows: RuleRow[] = [
  { guarantee: "a denied payee", rules: { payTo: { deny: [PAY_TO.toLowerCase()] } }, code: "payee_not_allowed" },
  {
    guarantee: "an allowed payee, whatever the case of its digits",
    rules: { payTo: { allow: [PAY_TO.toLowerCase()] } },
    code: null,
  },
  { guarantee: "an empty allow of payees allows none", rules: { payTo: { allow: [] } }, code: "payee_not_allowed" },
  {
    guarantee: "a payee rule without a payee denies",
    rules: { payTo: { deny: [] } },
    intent: { payTo: null },
    code: "payee_not_allowed",
  },
  { guarantee: "no payee rule needs no payee", intent: { payTo: null }, code: null },
  { guarantee: "an allowed seller", rules: { sellers: { allow: ["sel_one"] } }, code: null },
  { guarantee: "a denied seller", rules: { sellers: { deny: ["sel_one"] } }, code: "seller_denied" },
  { guarantee: "deny wins over allow", rules: { sellers: { allow: ["sel_one"], deny: ["sel_one"] } }, code: "seller_denied" },
  { guarantee: "an empty allow of sellers allows none", rules: { sellers: { allow: [] } }, code: "seller_not_allowed" },
  { guarantee: "a seller that is not listed", rules: { sellers: { allow: ["sel_two"] } }, code: "seller_not_allowed" },
  { guarantee: "an unknown seller is not paid", intent: { seller: null, resource: null }, code: "seller_not_allowed" },
  {
    guarantee: "a seller that was named and does not exist is not paid even where the policy admits unregistered ones",
    rules: { sellers: { unregistered: "allow" } },
    intent: { seller: null, resource: null },
    code: "seller_not_allowed",
  },
  { guarantee: "an unregistered seller is not paid unless the policy says so", intent: unknown, code: "seller_not_allowed" },
  { guarantee: "an unregistered seller that the policy admits", rules: admitting, intent: unknown, code: null },
  {
    guarantee: "a list of sellers says nothing about unregistered ones",
    rules: { sellers: { unregistered: "allow", allow: [] } },
    intent: unknown,
    code: null,
  },
  {
    guarantee: "an unregistered seller whose challenge is missing",
    rules: admitting,
    intent: { ...unknown, unregistered: { domain: null, lacks: [{ detail: "Send it.", pointer: "/intent/challenge" }] } },
    code: "intent_invalid",
  },
  {
    guarantee: "an unregistered seller is not verified",
    rules: { ...admitting, requireVerifiedSeller: true },
    intent: unknown,
    code: "seller_unverified",
  },
  {
    guarantee: "an unregistered seller has no resource that a policy could name",
    rules: { ...admitting, resources: [{ sellerId: "sel_one", resourceId: "report" }] },
    intent: unknown,
    code: "resource_not_allowed",
  },
  {
    guarantee: "an unregistered seller's domain is a claim, which admits nobody",
    rules: { ...admitting, domains: { allow: ["example.net"] } },
    intent: unknown,
    code: "seller_unverified",
  },
  {
    guarantee: "an unregistered seller's domain that we asked ourselves is matched",
    rules: { ...admitting, domains: { allow: ["example.net"] } },
    intent: { ...unknown, domainSeen: true },
    code: null,
  },
  {
    guarantee: "an unregistered seller at an allowed domain may be allowed by its address",
    rules: { ...admitting, domains: { allow: ["example.net"] }, payTo: { allow: [PAY_TO] } },
    intent: unknown,
    code: null,
  },
  {
    guarantee: "an unregistered seller's domain is denied",
    rules: { ...admitting, domains: { deny: ["example.net"] } },
    intent: unknown,
    code: "domain_not_allowed",
  },
  {
    guarantee: "an unregistered seller's payee is denied",
    rules: { ...admitting, payTo: { deny: [PAY_TO.toLowerCase()] } },
    intent: unknown,
    code: "payee_not_allowed",
  },
  {
    guarantee: "an unregistered seller whose challenge differs from the intent",
    rules: admitting,
    intent: { ...unknown, mismatches: [{ field: "payTo", pointer: "/intent/challenge/accepts/0/payTo" }] },
    code: "challenge_mismatch",
  },
  { guarantee: "a verified seller", rules: { requireVerifiedSeller: true }, code: null },
  {
    guarantee: "an unverified seller",
    rules: { requireVerifiedSeller: true },
    intent: { seller: { ...seller, verified: false } },
    code: "seller_unverified",
  },
  { guarantee: "a domain is matched", rules: { domains: { allow: ["shop.example.com"] } }, code: null },
  {
    guarantee: "a domain that was not verified admits nobody",
    rules: { domains: { allow: ["shop.example.com"] } },
    intent: { seller: { ...seller, verified: false } },
    code: "seller_unverified",
  },
  {
    guarantee: "a domain that was not verified, and that we asked ourselves, is matched",
    rules: { domains: { allow: ["shop.example.com"] } },
    intent: { seller: { ...seller, verified: false }, domainSeen: true },
    code: null,
  },
  {
    guarantee: "a seller at an allowed domain may be allowed by its id",
    rules: { domains: { allow: ["shop.example.com"] }, sellers: { allow: ["sel_one"] } },
    intent: { seller: { ...seller, verified: false } },
    code: null,
  },
  {
    guarantee: "a seller that is allowed by its id must still name an allowed domain",
    rules: { domains: { allow: ["other.example.com"] }, sellers: { allow: ["sel_one"] } },
    intent: { seller: { ...seller, verified: false } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a domain that was not verified is denied as it is claimed",
    rules: { domains: { deny: ["shop.example.com"] } },
    intent: { seller: { ...seller, verified: false } },
    code: "domain_not_allowed",
  },
  { guarantee: "a parent domain is matched", rules: { domains: { allow: ["example.com"] } }, code: null },
  {
    guarantee: "a domain matches only at a dot",
    rules: { domains: { allow: ["op.example.com"] } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a longer name is another domain",
    rules: { domains: { allow: ["example.com"] } },
    intent: { seller: { ...seller, domain: "evil-example.com" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a child does not admit its parent",
    rules: { domains: { allow: ["shop.example.com"] } },
    intent: { seller: { ...seller, domain: "example.com" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a denied parent domain denies",
    rules: { domains: { allow: ["shop.example.com"], deny: ["example.com"] } },
    code: "domain_not_allowed",
  },
  { guarantee: "an empty allow of domains allows none", rules: { domains: { allow: [] } }, code: "domain_not_allowed" },
  {
    guarantee: "a denied host is denied on every port",
    rules: { domains: { deny: ["localhost"] } },
    intent: { seller: { ...seller, domain: "localhost:4021" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "an allowed port is that port",
    rules: { domains: { allow: ["localhost:4021"] } },
    intent: { seller: { ...seller, domain: "localhost:4022" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a seller without a domain meets no domain rule",
    rules: { domains: { deny: [] } },
    intent: { seller: { ...seller, domain: "" } },
    code: "domain_not_allowed",
  },
  { guarantee: "a resource by its id", rules: { resources: [{ sellerId: "sel_one", resourceId: "report" }] }, code: null },
  {
    guarantee: "a resource by its method and path",
    rules: { resources: [{ sellerId: "sel_one", method: "GET", pathTemplate: "/reports/{id}" }] },
    code: null,
  },
  {
    guarantee: "another method is another resource",
    rules: { resources: [{ sellerId: "sel_one", method: "POST", pathTemplate: "/reports/{id}" }] },
    code: "resource_not_allowed",
  },
  {
    guarantee: "the same id at another seller is another resource",
    rules: { resources: [{ sellerId: "sel_two", resourceId: "report" }] },
    code: "resource_not_allowed",
  },
  { guarantee: "an empty list of resources allows none", rules: { resources: [] }, code: "resource_not_allowed" },
  { guarantee: "an unknown resource is not paid", intent: { resource: null }, code: "resource_not_allowed" },
  {
    guarantee: "a resource of another seller",
    intent: { resource: { ...resource, sellerId: "sel_two" } },
    code: "resource_not_allowed",
  },
  {
    guarantee: "a challenge that the resource does not take",
    intent: { paymentChallengeType: "mpp" },
    code: "protocol_not_allowed",
  },
];

describe("rules of the seller and the resource", () => {
  test.each(rows)("$guarantee: $code", (row) => {
    const decision = decideRow(row);
    expect(decision.denialCode ?? null).toBe(row.code);
    expect(decision.outcome).toBe(row.code === null ? "allow" : "deny");
    if (row.code !== null) expect(decision.reasons[0]).toMatchObject({ code: row.code, effect: "deny" });
  });
});
