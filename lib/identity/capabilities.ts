import { invalidField, Problem } from "#lib/problem.ts";
import { Capability, MembershipRole, PlatformCapability, PlatformRole } from "#lib/vocabulary.ts";

type Capabilities = ReadonlySet<Capability>;

const everything = Capability.options;
const reads = everything.filter((capability) => capability.endsWith(":read"));

const byRole: Readonly<Record<MembershipRole, Capabilities>> = {
  owner: new Set(everything),
  admin: new Set(everything),
  approver: new Set<Capability>(["checkouts:approve", "mandates:read", "payments:read"]),
  developer: new Set<Capability>([...reads, "serviceAccounts:manage", "resources:manage", "sellers:manage"]),
  finance: new Set<Capability>(["billing:read", "payments:read", "audit:read"]),
  viewer: new Set(reads),
};

const none: ReadonlySet<never> = new Set();

/** A stored role that is not in MembershipRole counts as `viewer`, which can only read. */
export const membershipRoleOf = (stored: string): MembershipRole => MembershipRole.safeParse(stored).data ?? "viewer";

export const capabilitiesOfRole = (role: MembershipRole | null): Capabilities => (role === null ? none : byRole[role]);

const byPlatformRole: Readonly<Record<PlatformRole, readonly PlatformCapability[]>> = {
  user: [],
  support: ["platform.users.read", "platform.sessions.revoke"],
  auditor: ["platform.users.read", "platform.audit.read"],
  operator: [
    "platform.users.read",
    "platform.users.ban",
    "platform.sessions.revoke",
    "platform.emergency.revoke",
    "platform.sellers.verify",
  ],
  admin: PlatformCapability.options,
};

export const platformRolesOf = (stored: readonly string[]): PlatformRole[] =>
  PlatformRole.options.filter((role) => stored.includes(role));

export const platformCapabilitiesOf = (roles: readonly PlatformRole[]): ReadonlySet<PlatformCapability> =>
  roles.every((role) => role === "user") ? none : new Set(roles.flatMap((role) => byPlatformRole[role]));

/** Capabilities that no API key can have, whatever the person who made the key may do. */
const personsOnly: Capabilities = new Set<Capability>([
  "checkouts:approve",
  "mandates:manage",
  "serviceAccounts:read",
  "serviceAccounts:manage",
  "members:manage",
  "webhooks:manage",
]);

/** A service account for which the request names no capabilities gets those of these that its creator has. */
export const agentSet: Capabilities = new Set<Capability>([
  "readiness:read",
  "checkouts:preview",
  "checkouts:read",
  "payments:authorize",
  "payments:execute",
  "payments:read",
  "orders:place",
  "billing:quote",
  "mandates:read",
]);

const inOrder = (capabilities: Capabilities): Capability[] => everything.filter((capability) => capabilities.has(capability));

/** The capabilities that an API key can have; an OAuth client can ask for each of them as a scope. */
export const keyCapabilities: readonly Capability[] = everything.filter((capability) => !personsOnly.has(capability));
const forKeys: ReadonlySet<string> = new Set(keyCapabilities);
const isForKeys = (name: string): name is Capability => forKeys.has(name);

/** Leaves out names that are no capability of keys, even if the row of the service account contains them. */
export const keyCapabilitiesOf = (stored: readonly string[]): Capabilities => new Set(stored.filter(isForKeys));

/** The capabilities of a paused service account: it can still read, so that its agent can follow payments that it began. */
export const pausedCapabilitiesOf = (stored: readonly string[]): Capabilities =>
  new Set([...keyCapabilitiesOf(stored)].filter((capability) => capability.endsWith(":read")));

export const cutCapabilities = (capabilities: Capabilities, ...cuts: readonly (readonly string[] | null)[]): Capabilities =>
  new Set([...capabilities].filter((capability) => cuts.every((cut) => cut === null || cut.includes(capability))));

export const lackedOf = (account: readonly string[], held: Capabilities): Capability[] =>
  inOrder(keyCapabilitiesOf(account)).filter((capability) => !held.has(capability));

/**
 * @throws Problem invalid_request for what no key may have (alone or together), capability_required for what the creator lacks
 */
export function grantCapabilities(asked: readonly Capability[] | undefined, creator: Capabilities): Capability[] {
  if (asked === undefined) return inOrder(agentSet).filter((capability) => creator.has(capability));
  for (const [at, capability] of asked.entries()) {
    if (personsOnly.has(capability)) {
      throw invalidField(`/capabilities/${at}`, `${capability} is for persons only; no API key can have it.`);
    }
    if (!creator.has(capability)) {
      throw new Problem("capability_required", {
        detail: `A service account gets no more than its creator has, and you do not have ${capability}.`,
        nextActions: [{ type: "request_capability", label: "Ask for the capability", metadata: { capability } }],
      });
    }
  }
  if (asked.includes("mandates:create")) {
    const at = asked.findIndex((capability) => capability.startsWith("payments:"));
    if (at >= 0) {
      throw invalidField(
        `/capabilities/${at}`,
        `${asked[at]} and mandates:create exclude each other: a key that can pay must not set limits.`,
      );
    }
  }
  return inOrder(new Set(asked));
}
