import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { isMember } from "#lib/identity/members/organization-store.ts";
import { setActiveOrganization } from "#lib/identity/sessions/session-store.ts";
import { notFound } from "#lib/problem.ts";

export const activateOrganization: Handler<typeof contract.activateOrganization> = async (
  { organizationId },
  { caller: { userId, sessionId, organizationId: before }, idempotency },
) =>
  once(contract.activateOrganization, idempotency, async (tx) => {
    if (!(await isMember(tx, organizationId, userId))) throw notFound("organization");
    if (before !== organizationId) {
      await setActiveOrganization(tx, sessionId, organizationId);
      const event = { actorId: userId, organizationId, subjectId: userId, entityType: "organization", entityId: organizationId };
      audit(tx, { ...event, type: "organization.activated", metadata: {} }, await clock(tx));
    }
    return { session: await viewSession(sessionId, tx) };
  });
