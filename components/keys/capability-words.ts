import type { Capability } from "#lib/vocabulary.ts";

/** Excludes the capabilities that only people can have. */
type KeyCapability = Exclude<
  Capability,
  | "checkouts:approve"
  | "mandates:manage"
  | "serviceAccounts:read"
  | "serviceAccounts:manage"
  | "members:manage"
  | "webhooks:manage"
>;

const words: Readonly<Record<KeyCapability, string>> = {
  "payments:authorize": "Ask whether a payment is allowed",
  "payments:execute": "Carry out what was allowed",
  "payments:record": "Close payments that were made elsewhere",
  "orders:place": "Order at storefronts",
  "readiness:read": "Check before paying",
  "checkouts:preview": "Show a person a basket to approve",
  "checkouts:read": "Follow what a person decides",
  "payments:read": "List payments",
  "mandates:read": "Read mandates and what is left",
  "sellers:read": "Read sellers and paid resources",
  "billing:quote": "Ask what the service charges",
  "billing:read": "Read fees and schedules",
  "audit:read": "Read and verify the audit log",
  "mandates:create": "Draft mandates that a person activates",
  "mandates:revoke": "Pause and revoke mandates",
  "sellers:manage": "Register sellers and verify domains",
  "resources:manage": "Change paid resources and prices",
  "payments:settle": "Settle payments at our facilitator",
};

export const capabilityWords = (capability: Capability): string =>
  (words as Partial<Record<Capability, string>>)[capability] ?? "";

export const capabilityGroups: readonly { readonly name: string; readonly capabilities: readonly KeyCapability[] }[] = [
  { name: "Pay", capabilities: ["payments:authorize", "payments:execute", "orders:place"] },
  { name: "Manage", capabilities: ["mandates:create", "mandates:revoke", "payments:record"] },
  { name: "Sell", capabilities: ["sellers:manage", "resources:manage", "payments:settle"] },
  {
    name: "Look",
    capabilities: [
      "readiness:read",
      "checkouts:preview",
      "checkouts:read",
      "payments:read",
      "mandates:read",
      "sellers:read",
      "billing:quote",
      "billing:read",
      "audit:read",
    ],
  },
];

export type Preset = { readonly name: string; readonly words: string; readonly capabilities: readonly Capability[] };

const looks: readonly KeyCapability[] = [
  "readiness:read",
  "checkouts:read",
  "payments:read",
  "mandates:read",
  "sellers:read",
  "billing:quote",
  "billing:read",
  "audit:read",
];

const presets: readonly Preset[] = [
  {
    name: "Pays",
    words: "Makes the payments that your mandates allow, places orders, and asks a person where a mandate says so.",
    capabilities: [
      "payments:authorize",
      "payments:execute",
      "orders:place",
      "readiness:read",
      "checkouts:preview",
      "checkouts:read",
      "payments:read",
      "mandates:read",
      "billing:quote",
    ],
  },
  {
    name: "Looks only",
    words: "Reads payments, mandates, sellers, fees and the audit log. It pays and changes nothing.",
    capabilities: looks,
  },
  {
    name: "Sells",
    words: "Registers what you sell and its prices, and settles the payments that buyers send you.",
    capabilities: [
      "sellers:manage",
      "resources:manage",
      "payments:settle",
      "payments:read",
      "sellers:read",
      "billing:quote",
      "billing:read",
    ],
  },
];

/** Leaves out what cannot be granted, and presets without anything that gives them their name. */
export function presetsOf(grantable: readonly Capability[]): readonly Preset[] {
  const cut = presets.map((preset) => ({
    ...preset,
    capabilities: preset.capabilities.filter((one) => grantable.includes(one)),
  }));
  return cut.filter(
    ({ name, capabilities }) => capabilities.length > 0 && (name === "Looks only" || capabilities.some((one) => !isLook(one))),
  );
}

const isLook = (capability: Capability): boolean => (looks as readonly Capability[]).includes(capability);

export const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((capability) => other.includes(capability));

function paymentAct(chosen: readonly string[]): string {
  if (chosen.includes("payments:authorize") || chosen.includes("payments:execute")) return "pay";
  return chosen.includes("payments:settle") ? "settle payments" : "list payments";
}

/** Null if the capability can be added. A key with payments:* must not have mandates:create, or it could set its own limits. */
export function excludedBy(capability: Capability, chosen: readonly string[]): string | null {
  if (capability === "mandates:create")
    return chosen.some((one) => one.startsWith("payments:"))
      ? `A key that can ${paymentAct(chosen)} cannot also create mandates`
      : null;
  return capability.startsWith("payments:") && chosen.includes("mandates:create") ? "Not together with drafting mandates" : null;
}

const has = (capabilities: readonly Capability[], ...any: readonly Capability[]) => any.some((one) => capabilities.includes(one));

/** A summary of what a key may do: "Pay and order". */
export function mayText(capabilities: readonly Capability[]): string {
  const acts = [
    has(capabilities, "payments:authorize", "payments:execute") && "pay",
    has(capabilities, "orders:place") && "order",
    has(capabilities, "mandates:create") && "draft mandates",
    has(capabilities, "mandates:revoke") && "pause mandates",
    has(capabilities, "sellers:manage", "resources:manage") && "sell",
    has(capabilities, "payments:settle") && "settle",
  ].filter((act) => act !== false);
  const text = acts.length > 0 ? new Intl.ListFormat("en", { type: "conjunction" }).format(acts) : readsText(capabilities);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function readsText(capabilities: readonly Capability[]): string {
  if (capabilities.length === 0) return "nothing";
  const [only, another] = capabilities;
  return only !== undefined && another === undefined ? capabilityWords(only) || only : "read only";
}
