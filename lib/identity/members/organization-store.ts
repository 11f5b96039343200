import { and, count, eq, gt, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import type { StepUpLimits } from "#lib/identity/step-up-limits.ts";
import { invitation, member, organization } from "#lib/identity/tables.ts";
import { ProductRole, type Environment, type MembershipRole } from "#lib/vocabulary.ts";

export async function countMemberships(tx: Tx, userId: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(member).where(eq(member.userId, userId));
  return row?.count ?? 0;
}

type NewOrganization = {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly environment: Environment;
  readonly productRoles: ProductRole[];
};

/** Returns false if the slug is taken, also by an organization that commits while this statement waits. */
export async function insertOrganization(tx: Tx, row: NewOrganization): Promise<boolean> {
  const inserted = await tx
    .insert(organization)
    .values(row)
    .onConflictDoNothing({ target: organization.slug })
    .returning({ id: organization.id });
  return inserted.length === 1;
}

type NewMember = { readonly id: string; readonly organizationId: string; readonly userId: string; readonly role: MembershipRole };

/** Returns false if the person is a member already. */
export async function insertMember(tx: Tx, row: NewMember): Promise<boolean> {
  const inserted = await tx.insert(member).values(row).onConflictDoNothing().returning({ id: member.id });
  return inserted.length === 1;
}

export async function isMember(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  const [row] = await tx
    .select({ id: member.id })
    .from(member)
    .where(and(eq(member.organizationId, organizationId), eq(member.userId, userId)))
    .for("key share");
  return row !== undefined;
}

/** Null unless the invitation was sent to this email address, is pending and has not expired. */
export async function takeInvitation(
  tx: Tx,
  id: string,
  email: string,
): Promise<{ readonly organizationId: string; readonly role: string | null } | null> {
  const [row] = await tx
    .update(invitation)
    .set({ status: "accepted" })
    .where(
      and(
        eq(invitation.id, id),
        eq(invitation.status, "pending"),
        gt(invitation.expiresAt, sql`statement_timestamp()`),
        eq(sql`lower(${invitation.email})`, email.toLowerCase()),
      ),
    )
    .returning({ organizationId: invitation.organizationId, role: invitation.role });
  return row ?? null;
}

/** The limits that the organization has set; null where the default applies. */
export type OwnStepUpLimits = { readonly [K in keyof StepUpLimits]: string | null };

export async function stepUpLimitsOf(db: Database | Tx, organizationId: string): Promise<OwnStepUpLimits> {
  const [row] = await db
    .select({ above: organization.stepUpAbove, aboveUnverified: organization.stepUpAboveUnverified })
    .from(organization)
    .where(eq(organization.id, organizationId));
  return row ?? { above: null, aboveUnverified: null };
}

export async function setStepUpLimits(tx: Tx, organizationId: string, limits: OwnStepUpLimits): Promise<void> {
  const { above: stepUpAbove, aboveUnverified: stepUpAboveUnverified } = limits;
  await tx.update(organization).set({ stepUpAbove, stepUpAboveUnverified }).where(eq(organization.id, organizationId));
}

export type OrganizationSettings = {
  readonly name: string;
  readonly slug: string;
  readonly productRoles: readonly ProductRole[];
  /** The time zone with which the editor starts a new mandate; if null, the browser's time zone. */
  readonly timezone: string | null;
  /** The logo as a data URL. */
  readonly logo: string | null;
};

export async function settingsOf(db: Database | Tx, organizationId: string): Promise<OrganizationSettings | null> {
  const { name, slug, productRoles, timezone, logo } = organization;
  const [row] = await db
    .select({ name, slug, productRoles, timezone, logo })
    .from(organization)
    .where(eq(organization.id, organizationId));
  return row ? { ...row, productRoles: ProductRole.options.filter((role) => row.productRoles.includes(role)) } : null;
}

/** The slug cannot change; the caller must have locked the organization, so that two changes do not overwrite each other. */
export async function saveSettings(tx: Tx, organizationId: string, settings: OrganizationSettings): Promise<void> {
  const { name, productRoles, timezone, logo } = settings;
  await tx
    .update(organization)
    .set({ name, productRoles: [...productRoles], timezone, logo })
    .where(eq(organization.id, organizationId));
}

export async function timezoneOf(db: Database | Tx, organizationId: string): Promise<string | null> {
  const [row] = await db
    .select({ timezone: organization.timezone })
    .from(organization)
    .where(eq(organization.id, organizationId));
  return row?.timezone ?? null;
}
