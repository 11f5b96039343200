import { z } from "zod";
import { Capability, MembershipRole, PlatformCapability, PlatformRole, ProductRole } from "#lib/vocabulary.ts";

const ActiveOrganization = z
  .object({
    organizationId: z.string(),
    name: z.string(),
    slug: z.string(),
    membershipRole: MembershipRole,
    productRoles: z.array(ProductRole),
    logo: z.string().optional().meta({ description: "The path of the picture, for members. Only of the active organization." }),
  })
  .meta({ id: "SessionOrganization", description: "An organization and the person's role in it." });

const AuthMethods = z.object({
  emailPassword: z.boolean(),
  magicLink: z.boolean(),
  passkey: z.boolean(),
  wallet: z.boolean(),
  google: z.boolean(),
  github: z.boolean(),
});

export const Session = z
  .object({
    authenticated: z.boolean(),
    subject: z.object({ subjectId: z.string(), organizationId: z.string().optional(), type: z.enum(["user"]) }),
    provider: z.string(),
    authMethods: AuthMethods,
    user: z.object({
      userId: z.string(),
      email: z.string(),
      name: z.string(),
      image: z.string().optional(),
      emailVerified: z.boolean(),
    }),
    activeOrganization: ActiveOrganization.optional(),
    organizations: z.array(ActiveOrganization),
    productRoles: z.array(ProductRole),
    capabilities: z.array(Capability),
    platformRoles: z.array(PlatformRole),
    platformCapabilities: z.array(PlatformCapability),
    onboardingRequired: z.boolean(),
  })
  .meta({ id: "Session", description: "Who is signed in, how, and what that person may do." });
export type Session = z.infer<typeof Session>;

const organization = {
  organizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
  name: "Acme Research",
  slug: "acme-research",
  membershipRole: "approver" as const,
  productRoles: ["buyer" as const],
};

export const exampleSession: Session = {
  authenticated: true,
  subject: {
    subjectId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
    organizationId: organization.organizationId,
    type: "user",
  },
  provider: "emailPassword",
  authMethods: { emailPassword: true, magicLink: true, passkey: true, wallet: true, google: false, github: false },
  user: { userId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1", email: "ada@acme.example", name: "Ada", emailVerified: false },
  activeOrganization: organization,
  organizations: [organization],
  productRoles: ["buyer"],
  capabilities: ["mandates:read", "payments:read", "checkouts:approve"],
  platformRoles: ["user"],
  platformCapabilities: [],
  onboardingRequired: false,
};
