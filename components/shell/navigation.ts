import type { Session } from "#lib/identity/session-schema.ts";
import {
  PlatformCapability,
  type Capability,
  type PlatformCapability as PlatformCapabilityName,
  type ProductRole,
} from "#lib/vocabulary.ts";

export type Section = "organization" | "platform";
const sections = {
  Buying: "organization",
  Selling: "organization",
  Organization: "organization",
  Platform: "platform",
  Evidence: "platform",
} as const satisfies Record<string, Section>;
export type Group = keyof typeof sections;

export type Entry = {
  readonly label: string;
  readonly href: `/${string}`;
  readonly group: Group;
  /** The capabilities of which the person needs one. */
  readonly capability?: readonly (Capability | PlatformCapabilityName)[];
  /** Only organizations with this product role see the entry. The page itself does not check the role. */
  readonly productRole?: ProductRole;
};

/** The pages in the menu, in order. Every page in this list must exist. */
export const entries: readonly Entry[] = [
  { label: "Home", href: "/home", group: "Buying", productRole: "buyer" },
  {
    label: "Approvals",
    href: "/approvals",
    group: "Buying",
    productRole: "buyer",
    capability: ["checkouts:read", "checkouts:approve"],
  },
  { label: "Mandates", href: "/mandates", group: "Buying", productRole: "buyer", capability: ["mandates:read"] },
  { label: "Payments", href: "/payments", group: "Buying", productRole: "buyer", capability: ["payments:read"] },
  { label: "Spending", href: "/spending", group: "Buying", productRole: "buyer", capability: ["payments:read"] },
  { label: "Home", href: "/seller", group: "Selling", productRole: "seller", capability: ["sellers:read", "payments:read"] },
  { label: "Paid resources", href: "/seller/resources", group: "Selling", productRole: "seller", capability: ["sellers:read"] },
  {
    label: "Payments received",
    href: "/seller/payments",
    group: "Selling",
    productRole: "seller",
    capability: ["payments:read"],
  },
  { label: "Seller fees", href: "/seller/fees", group: "Selling", productRole: "seller", capability: ["billing:read"] },
  { label: "Domain and seller", href: "/seller/settings", group: "Selling", productRole: "seller", capability: ["sellers:read"] },
  { label: "Agents and keys", href: "/settings/keys", group: "Organization", capability: ["serviceAccounts:read"] },
  { label: "Connect an agent", href: "/settings/connect", group: "Organization", capability: ["serviceAccounts:read"] },
  { label: "Members", href: "/settings/members", group: "Organization" },
  { label: "Organization settings", href: "/settings/organization", group: "Organization", capability: ["members:manage"] },
  { label: "Security", href: "/settings/security", group: "Organization" },
  { label: "Billing", href: "/settings/billing", group: "Organization", capability: ["billing:read"] },
  { label: "Webhooks", href: "/settings/webhooks", group: "Organization", capability: ["webhooks:manage"] },
  { label: "Cards", href: "/settings/cards", group: "Organization", productRole: "buyer", capability: ["mandates:read"] },
  { label: "Audit log", href: "/settings/audit", group: "Organization", capability: ["audit:read"] },
  { label: "Overview", href: "/admin", group: "Platform", capability: PlatformCapability.options },
  { label: "Users", href: "/admin/users", group: "Platform", capability: ["platform.users.read"] },
  { label: "Organizations", href: "/admin/organizations", group: "Platform", capability: ["platform.users.read"] },
  { label: "Sellers", href: "/admin/sellers", group: "Platform", capability: ["platform.sellers.verify"] },
  { label: "Emergency revoke", href: "/admin/emergency", group: "Platform", capability: ["platform.emergency.revoke"] },
  { label: "Fee schedules", href: "/admin/fee-schedules", group: "Platform", capability: ["platform.feeSchedules.manage"] },
  { label: "Subscriptions", href: "/admin/subscriptions", group: "Platform", capability: ["platform.subscriptions.manage"] },
  { label: "Audit chains", href: "/admin/audit", group: "Evidence", capability: ["platform.audit.read"] },
  { label: "Health", href: "/admin/health", group: "Evidence", capability: ["platform.audit.read", "platform.emergency.revoke"] },
];

const actions: readonly Omit<Entry, "group">[] = [
  { label: "New mandate", href: "/mandates/new", productRole: "buyer", capability: ["mandates:create"] },
  { label: "Create a key", href: "/settings/keys", capability: ["serviceAccounts:manage"] },
  { label: "Invite a member", href: "/settings/members", capability: ["members:manage"] },
  { label: "Get started", href: "/get-started" },
  { label: "Quickstart", href: "/docs/quickstart" },
  { label: "API reference", href: "/docs" },
  { label: "Verify a receipt", href: "/verify" },
];

export type Viewer = Pick<Session, "productRoles" | "capabilities" | "platformCapabilities" | "organizations">;

const mayOpen = (
  { capability, productRole }: Omit<Entry, "group">,
  { productRoles, capabilities, platformCapabilities }: Viewer,
): boolean =>
  (productRole === undefined || productRoles.includes(productRole)) &&
  (capability === undefined || capability.some((one) => [...capabilities, ...platformCapabilities].includes(one)));

export const entriesFor = (section: Section, viewer: Viewer): readonly Entry[] =>
  entries.filter((entry) => sections[entry.group] === section && mayOpen(entry, viewer));

export const actionsFor = (viewer: Viewer) => actions.filter((action) => mayOpen(action, viewer));

export type EntryGroup = { readonly group: Group; readonly entries: readonly Entry[] };

export const groupsFor = (section: Section, viewer: Viewer): readonly EntryGroup[] =>
  [...Map.groupBy(entriesFor(section, viewer), ({ group }) => group)].map(([group, entries]) => ({ group, entries }));

export function homeOf({ productRoles, organizations, platformCapabilities }: Viewer): string {
  if (productRoles.includes("buyer")) return "/home";
  if (productRoles.includes("seller")) return "/seller";
  if (platformCapabilities.length > 0) return "/admin";
  // If a person has organizations but none is active, the frame of /home asks them to choose one.
  return organizations.length > 0 ? "/home" : "/onboarding";
}
