import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { activateOrganization as handler } from "#lib/identity/sessions/activate-organization.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { useDatabase } from "#test/database.ts";
import { newInvitation, newOrganization, signIn, type Owner } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const activate = (as: Owner, id: string) => send(contract.activateOrganization, handler, { id, as: as.credential });

describe("activateOrganization", () => {
  test("the session changes to that organization and the role there; other sessions of the person do not", async () => {
    const [home, other] = [await newOrganization(), await newOrganization()];
    const invitationToken = await newInvitation(other, home.email, "approver");
    const body = { organizationName: "ignored", productRoles: ["buyer"], invitationToken };
    await send(contract.completeOnboarding, completeOnboarding, { body, as: home.credential });
    const { data } = await activate(home, home.organizationId);
    expect(data.session.activeOrganization).toMatchObject({ organizationId: home.organizationId, membershipRole: "owner" });
    const second = { ...home, credential: await signIn(home.email) };
    const back = await activate(second, other.organizationId);
    expect(back.data.session.capabilities).toEqual(["mandates:read", "payments:read", "checkouts:approve"]);
    const first = await send(contract.getSession, getSession, { as: home.credential });
    expect(first.data.session.activeOrganization?.organizationId).toBe(home.organizationId);
  });

  test("404 for an organization of others, as for one that does not exist", async () => {
    const [one, two] = [await newOrganization(), await newOrganization()];
    const [foreign, unknown] = [await activate(one, two.organizationId), await activate(one, "org_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
  });

  test("only a change writes an audit event", async () => {
    const owner = await newOrganization();
    expect((await activate(owner, owner.organizationId)).status).toBe(200);
    const events = await database()
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.chain, owner.organizationId), eq(auditEvents.type, "organization.activated")));
    expect(events).toEqual([]);
  });
});
