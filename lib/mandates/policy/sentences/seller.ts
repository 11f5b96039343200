import { fixed, sentence, type Said } from "#lib/mandates/policy/sentences/sentence.ts";

export const sellerStopped = fixed(
  33,
  "emergency_stop",
  "emergency",
  "The platform stopped this seller in an emergency. It cannot be paid.",
);
export const likeStopped = fixed(
  34,
  "emergency_stop",
  "emergency",
  "The platform stopped a seller with the same domain or address in an emergency. To be paid, this seller must verify its domain or prove its address.",
);
export const payeeUnknown = fixed(
  35,
  "payee_not_allowed",
  "payTo",
  "The policy names payees, and the intent has none.",
  "/payTo",
);
export const payeeForbidden = fixed(
  36,
  "payee_not_allowed",
  "payTo",
  "The policy forbids payments to this address.",
  "/payTo/deny",
);
export const payeeNotListed = fixed(
  37,
  "payee_not_allowed",
  "payTo",
  "The address is not among those that the policy allows.",
  "/payTo/allow",
);
export const payeeAllowed = fixed(38, "satisfied", "payTo", "The policy allows payments to this address.", "/payTo");
export const sellerForbidden = fixed(
  39,
  "seller_denied",
  "sellers",
  "The policy forbids payments to this seller.",
  "/sellers/deny",
);
export const sellerNotListed = fixed(
  40,
  "seller_not_allowed",
  "sellers",
  "The seller is not among those that the policy allows.",
  "/sellers/allow",
);
export const sellerAllowed = fixed(41, "satisfied", "sellers", "The seller may be paid.", "/sellers");
export const anySeller = fixed(42, "satisfied", "sellers", "The seller may be paid.");
export const noSuchSeller = fixed(43, "seller_not_allowed", "sellers", "There is no such seller.");
export const onlyRegistered = fixed(
  44,
  "seller_not_allowed",
  "sellers",
  "This mandate pays only registered sellers. This one is not registered.",
  "/sellers/unregistered",
);
export const challengeLacks = sentence(45, "intent_invalid", "intent.challenge", (_, detail: string, pointer: string) => ({
  message: detail,
  pointer,
}));
export const unregisteredAllowed = fixed(
  46,
  "satisfied",
  "sellers",
  "The policy admits sellers that are not registered.",
  "/sellers/unregistered",
);
export const sellerVerified = fixed(
  47,
  "satisfied",
  "requireVerifiedSeller",
  "The seller is verified.",
  "/requireVerifiedSeller",
);
export const sellerUnverified = fixed(
  48,
  "seller_unverified",
  "requireVerifiedSeller",
  "The policy asks for a verified seller, and this one is not.",
  "/requireVerifiedSeller",
);
export const domainUnknown = fixed(
  49,
  "domain_not_allowed",
  "domains",
  "The policy names domains, and the seller's is unknown.",
  "/domains",
);
export const domainForbidden = sentence(50, "domain_not_allowed", "domains", (_, name: string) => ({
  message: `The policy forbids payments to ${name}.`,
  pointer: "/domains/deny",
}));
export const domainNotListed = sentence(51, "domain_not_allowed", "domains", (_, name: string) => ({
  message: `${name} is not among the domains that the policy allows.`,
  pointer: "/domains/allow",
}));
export const domainAllowed = sentence(52, "satisfied", "domains", (_, name: string) => ({
  message: `The policy allows payments to ${name}.`,
  pointer: "/domains",
}));

const notProven = (name: string, look: string | null, cure: string): Said => ({
  message: `The policy allows ${name}, but the seller has not proven that it is there.${look === null ? "" : ` ${look}`} ${cure}`,
  pointer: "/domains/allow",
});
export const domainNotProven = sentence(53, "seller_unverified", "domains", (_, name: string, look: string | null) =>
  notProven(name, look, "Ask the seller to verify its domain, or allow the seller by its id or its address in the mandate."),
);
export const unregisteredNotProven = sentence(54, "seller_unverified", "domains", (_, name: string, look: string | null) =>
  notProven(name, look, "Ask the seller to register and verify its domain, or allow its address in the mandate."),
);
export const noResourceToName = fixed(
  55,
  "resource_not_allowed",
  "resources",
  "The policy names resources, and an unregistered seller has none.",
  "/resources",
);
export const noSuchResource = fixed(
  56,
  "resource_not_allowed",
  "resources",
  "The seller has no such resource, and only registered resources can be paid.",
);
export const resourceOfOther = fixed(57, "resource_not_allowed", "resources", "The resource belongs to another seller.");
export const resourceAllowed = fixed(58, "satisfied", "resources", "The policy allows this resource.", "/resources");
export const resourceNotListed = fixed(
  59,
  "resource_not_allowed",
  "resources",
  "The resource is not among those that the policy allows.",
  "/resources",
);
