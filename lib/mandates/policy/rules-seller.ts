import { resourceKey, routeKey, type AllowDeny } from "#lib/mandates/policy/compile-policy.ts";
import { addReason, type Case } from "#lib/mandates/policy/rules/reason.ts";
import * as say from "#lib/mandates/policy/sentences/seller.ts";

export function sellerRules(on: Case): void {
  // A card pays a merchant, for which the policy has rules of their own.
  if (on.intent.card) return;
  stopped(on);
  if (on.intent.record) return sellerOfRecord(on);
  payee(on);
  seller(on);
  verified(on);
  domain(on);
  resource(on);
}

function stopped(on: Case): void {
  const { payeeStop = null } = on.intent;
  if (payeeStop === null) return;
  addReason(on, payeeStop === "stopped" ? say.sellerStopped : say.likeStopped);
}

function payee(on: Case): void {
  const rule = on.policy.payTo;
  if (rule === null) return;
  const payTo = on.intent.payTo?.toLowerCase();
  if (payTo === undefined) return addReason(on, say.payeeUnknown);
  if (rule.deny?.has(payTo)) return addReason(on, say.payeeForbidden);
  addReason(on, rule.allow !== null && !rule.allow.has(payTo) ? say.payeeNotListed : say.payeeAllowed);
}

function seller(on: Case): void {
  const { policy, intent } = on;
  if (intent.seller === null) return unregistered(on);
  const { sellerId } = intent.seller;
  const rule = policy.sellers;
  if (rule === null) return addReason(on, say.anySeller);
  if (rule.deny?.has(sellerId)) return addReason(on, say.sellerForbidden);
  addReason(on, rule.allow !== null && !rule.allow.has(sellerId) ? say.sellerNotListed : say.sellerAllowed);
}

/** The lists of domains, addresses and resources speak of 402s. A seller that is forbidden stays forbidden on every rail. */
function sellerOfRecord(on: Case): void {
  const sellerId = on.intent.seller?.sellerId ?? on.intent.record?.payee ?? "";
  if (on.policy.sellers?.deny?.has(sellerId)) addReason(on, say.sellerForbidden);
  verified(on);
}

const admitsUnregistered = ({ policy, intent }: Case): boolean =>
  intent.seller === null && intent.unregistered !== null && policy.unregisteredSellers === "allow";

/** An intent with an unknown seller id is denied; its seller does not count as unregistered. */
function unregistered(on: Case): void {
  if (on.intent.unregistered === null) return addReason(on, say.noSuchSeller);
  if (!admitsUnregistered(on)) return addReason(on, say.onlyRegistered);
  const { lacks } = on.intent.unregistered;
  for (const { detail, pointer } of lacks) addReason(on, say.challengeLacks, detail, pointer);
  if (lacks.length === 0) addReason(on, say.unregisteredAllowed);
}

function verified(on: Case): void {
  if (!on.policy.requireVerifiedSeller) return;
  addReason(on, on.intent.seller?.verified === true ? say.sellerVerified : say.sellerUnverified);
}

/** Matches a parent too, with the port or without, but only whole labels: evil-example.com is not below example.com. */
export function namesDomain(list: ReadonlySet<string>, domain: string): boolean {
  const host = domain.toLowerCase();
  const port = host.lastIndexOf(":");
  return namesHost(list, host) || (port > 0 && namesHost(list, host.slice(0, port)));
}

function namesHost(list: ReadonlySet<string>, host: string): boolean {
  for (let rest = host; ;) {
    if (list.has(rest)) return true;
    const dot = rest.indexOf(".");
    if (dot < 0) return false;
    rest = rest.slice(dot + 1);
  }
}

/** "listed" does not mean that the payee owns the domain: for a payment, `isProven` decides that. */
export function judgeDomain(rule: AllowDeny, name: string): "forbidden" | "notListed" | "listed" | "open" {
  if (rule.deny !== null && namesDomain(rule.deny, name)) return "forbidden";
  if (rule.allow === null) return "open";
  return namesDomain(rule.allow, name) ? "listed" : "notListed";
}

function domain(on: Case): void {
  const rule: AllowDeny | null = on.policy.domains;
  if (rule === null) return;
  const name = on.intent.seller?.domain ?? on.intent.unregistered?.domain ?? "";
  if (name === "") return addReason(on, say.domainUnknown);
  const judged = judgeDomain(rule, name);
  if (judged === "forbidden") return addReason(on, say.domainForbidden, name);
  if (judged === "notListed") return addReason(on, say.domainNotListed, name);
  // Anyone can claim a domain, so a domain on the allow list must be proven.
  if (judged === "listed" && !isProven(on)) {
    const notProven = on.intent.seller === null ? say.unregisteredNotProven : say.domainNotProven;
    return addReason(on, notProven, name, on.intent.domainLook ?? null);
  }
  addReason(on, say.domainAllowed, name);
}

/** An allow list of the policy that names the seller or the payee's address counts as proof. */
function isProven({ policy, intent }: Case): boolean {
  const { seller, payTo, domainSeen } = intent;
  if (seller?.verified === true || domainSeen === true) return true;
  if (seller !== null && policy.sellers?.allow?.has(seller.sellerId)) return true;
  return payTo !== null && policy.payTo?.allow?.has(payTo.toLowerCase()) === true;
}

function resource(on: Case): void {
  const found = on.intent.resource;
  const list = on.policy.resources;
  if (found === null) {
    if (!admitsUnregistered(on)) addReason(on, say.noSuchResource);
    else if (list !== null) addReason(on, say.noResourceToName);
    return;
  }
  const { sellerId, resourceId, method, pathTemplate } = found;
  if (on.intent.seller !== null && on.intent.seller.sellerId !== sellerId) return addReason(on, say.resourceOfOther);
  if (list === null) return;
  const listed = list.has(resourceKey(sellerId, resourceId)) || list.has(routeKey(sellerId, method, pathTemplate));
  addReason(on, listed ? say.resourceAllowed : say.resourceNotListed);
}
