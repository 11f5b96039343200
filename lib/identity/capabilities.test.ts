import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  capabilitiesOfRole,
  grantCapabilities,
  keyCapabilitiesOf,
  membershipRoleOf,
  platformCapabilitiesOf,
  platformRolesOf,
} from "#lib/identity/capabilities.ts";
import { isProblem } from "#lib/problem.ts";
import { Capability, MembershipRole, PlatformCapability, PlatformRole } from "#lib/vocabulary.ts";

const personsOnly = [
  "checkouts:approve",
  "mandates:manage",
  "serviceAccounts:read",
  "serviceAccounts:manage",
  "members:manage",
  "webhooks:manage",
];
const reads = Capability.options.filter((capability) => capability.endsWith(":read"));
const some = fc.subarray(Capability.options);

const grant = (asked: Parameters<typeof grantCapabilities>[0], creator: Iterable<Capability>) => {
  try {
    return grantCapabilities(asked, new Set(creator));
  } catch (error) {
    if (isProblem(error)) return error;
    throw error;
  }
};

describe("capabilities of a membership", () => {
  test.each([
    ["owner", Capability.options],
    ["admin", Capability.options],
    ["approver", ["checkouts:approve", "mandates:read", "payments:read"]],
    ["developer", [...reads, "serviceAccounts:manage", "resources:manage", "sellers:manage"]],
    ["finance", ["billing:read", "payments:read", "audit:read"]],
    ["viewer", reads],
  ] as const)("%s has exactly its row of the table", (role, capabilities) => {
    expect([...capabilitiesOfRole(role)].toSorted()).toEqual([...capabilities].toSorted());
  });

  test("an unknown role has the capabilities of a viewer, and no membership has none", () => {
    for (const stored of ["member", "superuser", "", "OWNER", "owner,admin"]) expect(membershipRoleOf(stored)).toBe("viewer");
    for (const role of MembershipRole.options) expect(membershipRoleOf(role)).toBe(role);
    expect(capabilitiesOfRole(null).size).toBe(0);
  });
});

describe("platform capabilities", () => {
  test.each([
    ["user", []],
    ["support", ["platform.users.read", "platform.sessions.revoke"]],
    ["auditor", ["platform.users.read", "platform.audit.read"]],
    [
      "operator",
      [
        "platform.users.read",
        "platform.users.ban",
        "platform.sessions.revoke",
        "platform.emergency.revoke",
        "platform.sellers.verify",
      ],
    ],
    ["admin", PlatformCapability.options],
  ] as const)("%s has exactly its row of the table", (role, capabilities) => {
    expect([...platformCapabilitiesOf(["user", role])].toSorted()).toEqual([...capabilities].toSorted());
  });

  test("unknown stored roles give no capability", () => {
    expect(platformRolesOf(["root", "Admin", "admin "])).toEqual([]);
    expect(platformRolesOf(["admin", "user", "nonsense"])).toEqual(
      PlatformRole.options.filter((role) => role === "user" || role === "admin"),
    );
  });
});

describe("capabilities of a key", () => {
  test("no key has more than its creator, a capability for persons only, or both payments and mandates", () => {
    fc.assert(
      fc.property(fc.option(some, { nil: undefined }), some, (asked, creator) => {
        const granted = grant(asked, creator);
        if (isProblem(granted)) return;
        for (const capability of granted) {
          expect(creator).toContain(capability);
          expect(personsOnly).not.toContain(capability);
        }
        expect(granted.includes("mandates:create") && granted.some((capability) => capability.startsWith("payments:"))).toBe(
          false,
        );
        if (asked) expect(granted.toSorted()).toEqual([...new Set(asked)].toSorted());
        expect([...keyCapabilitiesOf(granted)]).toEqual(granted);
      }),
    );
  });

  test("each refused capability has a reason", () => {
    fc.assert(
      fc.property(some, some, (asked, creator) => {
        if (!isProblem(grant(asked, creator))) return;
        const beyond = asked.some((capability) => !creator.includes(capability) || personsOnly.includes(capability));
        const both = asked.includes("mandates:create") && asked.some((capability) => capability.startsWith("payments:"));
        expect(beyond || both).toBe(true);
      }),
    );
  });

  test("without a list a key gets the usual capabilities of an agent that its creator has; an empty list gives none", () => {
    const agent = [
      "readiness:read",
      "checkouts:preview",
      "checkouts:read",
      "payments:authorize",
      "payments:execute",
      "payments:read",
      "orders:place",
      "billing:quote",
      "mandates:read",
    ];
    const all = grant(undefined, Capability.options);
    expect([...(all as Capability[])].toSorted()).toEqual(agent.toSorted());
    const viewer = grant(undefined, reads);
    expect([...(viewer as Capability[])].toSorted()).toEqual(agent.filter((name) => name.endsWith(":read")).toSorted());
    expect(grant([], Capability.options)).toEqual([]);
  });

  test("400 points at the capability that no key can have", () => {
    const refused = grant(["mandates:read", "checkouts:approve"], Capability.options);
    expect(isProblem(refused) && refused.details.errors?.[0]?.pointer).toBe("/capabilities/1");
    const both = grant(["mandates:create", "payments:read"], Capability.options);
    expect(isProblem(both) && both.details.errors?.[0]?.pointer).toBe("/capabilities/1");
  });

  test("capabilities for persons only are ignored in a stored list", () => {
    expect([...keyCapabilitiesOf(["payments:read", "checkouts:approve", "nonsense"])]).toEqual(["payments:read"]);
  });
});
