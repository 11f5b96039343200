import { randomInt } from "node:crypto";
import { audit, clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler, Input, SessionCaller } from "#lib/http/operation.ts";
import { requiresVerifiedEmail } from "#lib/identity/sessions/auth-methods.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { invitationIdOf } from "#lib/identity/members/invitation-token.ts";
import { countMemberships, insertMember, insertOrganization, takeInvitation } from "#lib/identity/members/organization-store.ts";
import { lockUser, type UserRow } from "#lib/identity/user-store.ts";
import { setActiveOrganization } from "#lib/identity/sessions/session-store.ts";
import { deriveSlug } from "#lib/identity/members/slug.ts";
import { newId } from "#lib/ids.ts";
import { claimSandbox } from "#lib/identity/sessions/first-admin.ts";
import { notFound, Problem } from "#lib/problem.ts";

const ORGANIZATIONS_MAX = 10;
const DERIVED_SLUG_TRIES = 8;

type Body = Input<typeof contract.completeOnboarding>["body"];

const slugTaken = (slug: string): Problem =>
  new Problem("slug_taken", {
    detail: `The slug ${slug} is taken. Choose another one, or leave it out to get one made from the name.`,
    errors: [{ detail: "This slug is taken.", pointer: "/organizationSlug" }],
  });

async function found(tx: Tx, { organizationName, organizationSlug, productRoles }: Body) {
  const organization = { id: newId("organization"), name: organizationName, environment: env().ENVIRONMENT };
  const roles = [...new Set(productRoles)];
  const derived = deriveSlug(organizationName);
  for (let turn = 0; turn < DERIVED_SLUG_TRIES; turn += 1) {
    const slug = organizationSlug ?? (turn === 0 ? derived : `${derived}-${randomInt(10_000_000)}`);
    if (await insertOrganization(tx, { ...organization, slug, productRoles: roles }))
      return { ...organization, slug, productRoles: roles };
    if (organizationSlug !== undefined) break;
  }
  throw slugTaken(organizationSlug ?? derived);
}

async function createOrganization(tx: Tx, { userId }: SessionCaller, body: Body): Promise<string> {
  const { id, name, slug, productRoles } = await found(tx, body);
  await insertMember(tx, { id: newId("member"), organizationId: id, userId, role: "owner" });
  const event = { actorId: userId, organizationId: id, subjectId: userId, entityType: "organization", entityId: id };
  audit(tx, { ...event, type: "organization.created", metadata: { name, slug, productRoles } }, await clock(tx));
  return id;
}

/** An unknown, an expired and somebody else's invitation get the same answer, so that the answer reveals nothing. */
async function join(tx: Tx, { userId }: SessionCaller, user: UserRow, invitationToken: string): Promise<string> {
  const invitationId = invitationIdOf(invitationToken);
  const invitation = invitationId === null ? null : await takeInvitation(tx, invitationId, user.email);
  if (!invitation) throw notFound("invitation for this account");
  if (requiresVerifiedEmail() && !user.emailVerified) {
    throw new Problem("forbidden", { detail: "Confirm your e-mail address first. Then accept the invitation." });
  }
  const { organizationId } = invitation;
  const role = membershipRoleOf(invitation.role ?? "viewer");
  const id = newId("member");
  if (!(await insertMember(tx, { id, organizationId, userId, role }))) {
    throw new Problem("conflict", { detail: "You are a member of this organization already." });
  }
  const event = { actorId: userId, organizationId, subjectId: userId, entityType: "member", entityId: id };
  audit(tx, { ...event, type: "member.joined", metadata: { role } }, await clock(tx));
  return organizationId;
}

export const completeOnboarding: Handler<typeof contract.completeOnboarding> = async ({ body }, { caller, idempotency }) => {
  if (body.organizationSlug !== undefined) await countAttempt("slug", caller.userId, 20);
  return once(contract.completeOnboarding, idempotency, async (tx) => {
    const user = await lockUser(tx, caller.userId);
    if (!user) throw new Problem("session_expired", { detail: "This session has ended. Sign in again." });
    if ((await countMemberships(tx, caller.userId)) >= ORGANIZATIONS_MAX) {
      throw new Problem("organization_limit_reached", {
        detail: `A person is a member of ${ORGANIZATIONS_MAX} organizations at most.`,
      });
    }
    const organizationId =
      body.invitationToken === undefined
        ? await createOrganization(tx, caller, body)
        : await join(tx, caller, user, body.invitationToken);
    await setActiveOrganization(tx, caller.sessionId, organizationId);
    if (env().ENVIRONMENT === "sandbox") await claimSandbox(tx, caller.userId, await clock(tx));
    return { session: await viewSession(caller.sessionId, tx) };
  });
};
