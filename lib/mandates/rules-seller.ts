import { resourceKey, routeKey, type AllowDeny } from "#lib/mandates/compile-policy.ts";
import { deny, satisfy, type Case } from "#lib/mandates/reason.ts";

/** Checks the payee and the resource. */
export function sellerRules(on: Case): void {
  stopped(on);
  payee(on);
  seller(on);
  verified(on);
  domain(on);
  resource(on);
}

function stopped(on: Case): void {
  const { payeeStop = null } = on.intent;
  if (payeeStop === null) return;
  const message =
    payeeStop === "stopped"
      ? "The platform stopped this seller in an emergency. It cannot be paid."
      : "The platform stopped a seller with the same domain or address in an emergency. To be paid, this seller must verify its domain or prove its address.";
  deny(on, "emergency_stop", "emergency", message);
}

function payee(on: Case): void {
  const rule = on.policy.payTo;
  if (rule === null) return;
  const payTo = on.intent.payTo?.toLowerCase();
  if (payTo === undefined)
    return deny(on, "payee_not_allowed", "payTo", "The policy names payees, and the intent has none.", { pointer: "/payTo" });
  if (rule.deny?.has(payTo))
    return deny(on, "payee_not_allowed", "payTo", "The policy forbids payments to this address.", { pointer: "/payTo/deny" });
  if (rule.allow !== null && !rule.allow.has(payTo)) {
    return deny(on, "payee_not_allowed", "payTo", "The address is not among those that the policy allows.", {
      pointer: "/payTo/allow",
    });
  }
  satisfy(on, "payTo", "The policy allows payments to this address.", { pointer: "/payTo" });
}

function seller(on: Case): void {
  const { policy, intent } = on;
  if (intent.seller === null) return unregistered(on);
  const { sellerId } = intent.seller;
  const rule = policy.sellers;
  if (rule?.deny?.has(sellerId))
    return deny(on, "seller_denied", "sellers", "The policy forbids payments to this seller.", { pointer: "/sellers/deny" });
  if (rule !== null && rule.allow !== null && !rule.allow.has(sellerId)) {
    return deny(on, "seller_not_allowed", "sellers", "The seller is not among those that the policy allows.", {
      pointer: "/sellers/allow",
    });
  }
  satisfy(on, "sellers", "The seller may be paid.", rule === null ? {} : { pointer: "/sellers" });
}

const admitsUnregistered = ({ policy, intent }: Case): boolean =>
  intent.seller === null && intent.unregistered !== null && policy.unregisteredSellers === "allow";

/** If the intent names a record that does not exist, the seller does not count as unregistered. */
function unregistered(on: Case): void {
  const pointer = "/sellers/unregistered";
  if (on.intent.unregistered === null) return deny(on, "seller_not_allowed", "sellers", "There is no such seller.");
  if (!admitsUnregistered(on)) {
    return deny(on, "seller_not_allowed", "sellers", "This mandate pays only registered sellers. This one is not registered.", {
      pointer,
    });
  }
  const { lacks } = on.intent.unregistered;
  for (const lack of lacks) deny(on, "intent_invalid", "intent.challenge", lack.detail, { pointer: lack.pointer });
  if (lacks.length === 0) satisfy(on, "sellers", "The policy admits sellers that are not registered.", { pointer });
}

function verified(on: Case): void {
  if (!on.policy.requireVerifiedSeller) return;
  const pointer = "/requireVerifiedSeller";
  if (on.intent.seller?.verified === true) satisfy(on, "requireVerifiedSeller", "The seller is verified.", { pointer });
  else
    deny(on, "seller_unverified", "requireVerifiedSeller", "The policy asks for a verified seller, and this one is not.", {
      pointer,
    });
}

/** Whether a list names the domain or a parent of it. Only whole labels are compared: evil-example.com is not below example.com. */
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

function domain(on: Case): void {
  const rule: AllowDeny | null = on.policy.domains;
  if (rule === null) return;
  const name = on.intent.seller?.domain ?? on.intent.unregistered?.domain ?? "";
  if (name === "") {
    return deny(on, "domain_not_allowed", "domains", "The policy names domains, and the seller's is unknown.", {
      pointer: "/domains",
    });
  }
  if (rule.deny !== null && namesDomain(rule.deny, name)) {
    return deny(on, "domain_not_allowed", "domains", `The policy forbids payments to ${name}.`, { pointer: "/domains/deny" });
  }
  if (rule.allow !== null && !namesDomain(rule.allow, name)) {
    return deny(on, "domain_not_allowed", "domains", `${name} is not among the domains that the policy allows.`, {
      pointer: "/domains/allow",
    });
  }
  if (rule.allow !== null && !isProven(on)) return unproven(on, name);
  satisfy(on, "domains", `The policy allows payments to ${name}.`, { pointer: "/domains" });
}

/** Whether the payee has proved its domain, or the policy allows the seller or the address itself. */
function isProven({ policy, intent }: Case): boolean {
  const { seller, payTo, domainSeen } = intent;
  if (seller?.verified === true || domainSeen === true) return true;
  if (seller !== null && policy.sellers?.allow?.has(seller.sellerId)) return true;
  return payTo !== null && policy.payTo?.allow?.has(payTo.toLowerCase()) === true;
}

/** Anyone can claim a domain, so a claim alone is denied. */
function unproven(on: Case, name: string): void {
  const { seller, domainLook } = on.intent;
  const found = domainLook === undefined ? "" : ` ${domainLook}`;
  const cure =
    seller === null
      ? "Ask the seller to register and verify its domain, or allow its address in the mandate."
      : "Ask the seller to verify its domain, or allow the seller by its id or its address in the mandate.";
  const message = `The policy allows ${name}, but the seller has not proven that it is there.${found} ${cure}`;
  deny(on, "seller_unverified", "domains", message, { pointer: "/domains/allow" });
}

function resource(on: Case): void {
  const found = on.intent.resource;
  const list = on.policy.resources;
  if (found === null && admitsUnregistered(on)) {
    if (list === null) return;
    return deny(on, "resource_not_allowed", "resources", "The policy names resources, and an unregistered seller has none.", {
      pointer: "/resources",
    });
  }
  if (found === null) {
    return deny(
      on,
      "resource_not_allowed",
      "resources",
      "The seller has no such resource, and only registered resources can be paid.",
    );
  }
  const { sellerId, resourceId, method, pathTemplate } = found;
  if (on.intent.seller !== null && on.intent.seller.sellerId !== sellerId) {
    return deny(on, "resource_not_allowed", "resources", "The resource belongs to another seller.");
  }
  if (list === null) return;
  const pointer = "/resources";
  if (list.has(resourceKey(sellerId, resourceId)) || list.has(routeKey(sellerId, method, pathTemplate))) {
    return satisfy(on, "resources", "The policy allows this resource.", { pointer });
  }
  deny(on, "resource_not_allowed", "resources", "The resource is not among those that the policy allows.", { pointer });
}
