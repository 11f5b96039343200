import { authMethods } from "#lib/identity/sessions/auth-methods.ts";
import { capabilitiesOfRole, membershipRoleOf, platformCapabilitiesOf, platformRolesOf } from "#lib/identity/capabilities.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { Capability, PlatformCapability, ProductRole } from "#lib/vocabulary.ts";

const LOGO_PATH = "/settings/organization/logo";

export type SessionFacts = {
  readonly provider: string;
  readonly activeOrganizationId: string | null;
  readonly user: {
    readonly userId: string;
    readonly email: string;
    readonly name: string;
    readonly image: string | null;
    readonly emailVerified: boolean;
    readonly platformRoles: readonly string[];
  };
  readonly memberships: readonly {
    readonly organizationId: string;
    readonly name: string;
    readonly slug: string;
    readonly role: string;
    readonly productRoles: readonly string[];
    /** A value that changes with the logo; null unless the organization is the active one and has a logo. */
    readonly logoVersion: string | null;
  }[];
};

/** An active organization of which the person is not a member is left out. */
export function presentSession({ provider, activeOrganizationId, user, memberships }: SessionFacts): Session {
  const { userId, email, name, image, emailVerified } = user;
  const organizations = memberships.map(({ role, productRoles, logoVersion, ...organization }) => ({
    ...organization,
    membershipRole: membershipRoleOf(role),
    productRoles: ProductRole.options.filter((productRole) => productRoles.includes(productRole)),
    ...(logoVersion !== null && { logo: `${LOGO_PATH}?v=${logoVersion}` }),
  }));
  const active = organizations.find(({ organizationId }) => organizationId === activeOrganizationId);
  const capabilities = capabilitiesOfRole(active?.membershipRole ?? null);
  const platformRoles = platformRolesOf(user.platformRoles);
  const platformCapabilities = platformCapabilitiesOf(platformRoles);
  return {
    authenticated: true,
    subject: { subjectId: userId, ...(active && { organizationId: active.organizationId }), type: "user" },
    provider,
    authMethods: authMethods(),
    user: { userId, email, name, ...(image !== null && { image }), emailVerified },
    ...(active && { activeOrganization: active }),
    organizations,
    productRoles: active?.productRoles ?? [],
    capabilities: Capability.options.filter((capability) => capabilities.has(capability)),
    platformRoles,
    platformCapabilities: PlatformCapability.options.filter((capability) => platformCapabilities.has(capability)),
    onboardingRequired: organizations.length === 0,
  };
}
