import { and, asc, eq, inArray, type SQL } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { member, user } from "#lib/identity/tables.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { MembershipRole } from "#lib/vocabulary.ts";

export type Approver = {
  readonly userId: string;
  readonly email: string;
  readonly emailVerified: boolean;
};

const roles = MembershipRole.options.filter((role) => capabilitiesOfRole(role).has("checkouts:approve"));

/** SQL condition, for a query that joins member and user. */
export const mayApprove = (): SQL | undefined => and(inArray(member.role, roles), isLive.person);

export const selectApprovers = (tx: Tx, organizationId: string, condition: SQL, rows: number): Promise<readonly Approver[]> =>
  tx
    .select({ userId: user.id, email: user.email, emailVerified: user.emailVerified })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, organizationId), mayApprove(), condition))
    .orderBy(asc(member.createdAt), asc(member.id))
    .limit(rows);
