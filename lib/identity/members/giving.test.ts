import { and, count, eq, inArray, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import * as steps from "#lib/approvals/decision/contract.ts";
import { stepUp } from "#lib/approvals/decision/step-up.ts";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { confirmIdentity } from "#lib/identity/passkeys/confirm-identity.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { createServiceAccount } from "#lib/identity/keys/create-service-account.ts";
import { setRole } from "#lib/identity/member-store.ts";
import * as organizations from "#lib/identity/members/contract.ts";
import * as passkeys from "#lib/identity/passkeys/contract.ts";
import { pauseServiceAccount } from "#lib/identity/keys/pause-service-account.ts";
import { resumeServiceAccount } from "#lib/identity/keys/resume-service-account.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import { setStepUpThreshold } from "#lib/identity/members/set-step-up-threshold.ts";
import { organization, session, user } from "#lib/identity/tables.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { resumeMandate } from "#lib/mandates/lifecycle/resume-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, PASSWORD, signIn, type Owner } from "#test/identity.ts";
import { activeMandate, authorize, draftMandate, policy } from "#test/mandates.ts";
import { cancel, changeRole, invite, remove } from "#test/members.ts";
import { ban, setRoles, unban } from "#test/platform.ts";
import { actAsked } from "#test/proofs.ts";
import { createOrganization, createResource, send, type Credential } from "#test/tenant.ts";
import { askAllowOnce, setVerified } from "#test/waivers.ts";

/*
 * A person who gives a right to somebody must still have the right when the change commits. So a request that runs while the
 * person's right is revoked changes nothing. Giving a right needs a recent proof of identity; taking one away does not.
 */

useDatabase();

type Reply = { readonly status: number; readonly problem: ErrorBody };
type Giving = (by: Owner, owner: Owner) => Promise<() => Promise<Reply>>;

const givings: Readonly<Record<string, Giving>> = {
  createServiceAccount: async (by) => () =>
    send(contract.createServiceAccount, createServiceAccount, {
      as: by.credential,
      body: { name: "Agent", organizationId: by.organizationId },
    }),
  rotateServiceAccountKey: async (by, owner) => {
    const { serviceAccountId: id } = await newKey(owner, ["audit:read"]);
    return () => send(contract.rotateServiceAccountKey, rotateServiceAccountKey, { as: by.credential, id });
  },
  resumeServiceAccount: async (by, owner) => {
    const { serviceAccountId: id } = await newKey(owner, ["audit:read"]);
    await send(contract.pauseServiceAccount, pauseServiceAccount, { as: owner.credential, id, body: {} });
    return () => send(contract.resumeServiceAccount, resumeServiceAccount, { as: by.credential, id, body: {} });
  },
  inviteMember: async (by) => () => invite(by, { email: `${by.userId}@example.com`, role: "admin" }),
  updateMember: async (by, owner) => {
    const { userId } = await newMember(owner, "viewer");
    return () => changeRole(by, userId, "admin");
  },
  activateMandate: async (by, owner) => {
    const { mandateId: id } = await draftMandate(owner.credential);
    return () => send(mandates.activateMandate, activateMandate, { as: by.credential, id });
  },
  resumeMandate: async (by, owner) => {
    const id = await activeMandate(owner.credential);
    await send(mandates.suspendMandate, suspendMandate, { as: owner.credential, id });
    return () => send(mandates.resumeMandate, resumeMandate, { as: by.credential, id });
  },
  updateMandate: async (by, owner) => {
    const id = await activeMandate(owner.credential);
    const body = { policy: { ...policy, limits: { ...policy.limits, perPayment: "2" } } };
    return () => send(mandates.updateMandate, updateMandate, { as: by.credential, id, body });
  },
  allowPaymentOnce: async (by, owner) => {
    const resource = await createResource(await createOrganization("Shop"), "2");
    await setVerified(resource.sellerId);
    const agent = await newKey(owner, ["payments:authorize"]);
    const { authorizationId } = await authorize({ agent, resource }, await activeMandate(owner.credential), "2");
    return () => askAllowOnce(by.credential, authorizationId);
  },
};

/** Waits until a connection to this database waits for a lock. */
async function somebodyWaits(): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    const [row] = await database().execute<{ waits: boolean }>(
      sql`SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waits`,
    );
    if (row?.waits) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("Nobody waited: the right was not read again.");
}

test.each(Object.entries(givings))("%s: a role that was removed during the request gives no right", async (_id, prepare) => {
  const owner = await newOrganization();
  const admin = await newMember(owner, "admin");
  const give = await prepare(admin, owner);
  const replied = await database().transaction(async (tx) => {
    await tx.select().from(organization).where(eq(organization.id, owner.organizationId)).for("no key update");
    const asked = give();
    await somebodyWaits();
    await setRole(tx, { ...admin, name: "", role: "admin", createdAt: new Date() }, "viewer");
    return { asked };
  });
  expect(await replied.asked).toMatchObject({ status: 403, problem: { code: "capability_required" } });
});

const endings = {
  "whose session was ended": [401, "session_expired"],
  "who was banned": [403, "banned"],
} as const;

test.each(Object.entries(endings))("a person %s during the request creates no API key", async (what, [status, code]) => {
  const owner = await newOrganization();
  const give = await givings["createServiceAccount"]!(owner, owner);
  const replied = await database().transaction(async (tx) => {
    await tx.select().from(user).where(eq(user.id, owner.userId)).for("no key update");
    const asked = give();
    await somebodyWaits();
    if (code === "banned") await tx.update(user).set({ banned: true }).where(eq(user.id, owner.userId));
    else await tx.delete(session).where(and(eq(session.userId, owner.userId)));
    return { asked };
  });
  expect(await replied.asked, what).toMatchObject({ status, problem: { code } });
});

/**
 * Makes the last sign-in or proof of identity older than 15 minutes (FRESH_SESSION_MS), so that the person may not give rights
 * without a new proof.
 */
const growStale = (...people: readonly { readonly userId: string }[]) =>
  database()
    .update(session)
    .set({ provedAt: sql`statement_timestamp() - interval '901 seconds'` })
    .where(
      inArray(
        session.userId,
        people.map(({ userId }) => userId),
      ),
    );

const confirm = (as: Credential) => send(passkeys.confirmIdentity, confirmIdentity, { as, body: { password: PASSWORD } });

const threshold = (by: Owner, body: unknown) =>
  send(organizations.setStepUpThreshold, setStepUpThreshold, { id: by.organizationId, as: by.credential, body });

/** Makes a platform admin with a password. */
async function official(): Promise<Owner> {
  const owner = await newOrganization();
  await database()
    .update(user)
    .set({ platformRoles: ["user", "admin"] })
    .where(eq(user.id, owner.userId));
  return owner;
}

const moreGivings: Readonly<Record<string, Giving>> = {
  ...givings,
  "a higher threshold": async (by) => {
    await threshold(by, { above: "1" });
    return () => threshold(by, { above: "2" });
  },
  "a threshold above the default": async (by) => () => threshold(by, { above: "100.01" }),
  "a threshold for unverified payees above the default": async (by) => () => threshold(by, { aboveUnverified: "26" }),
  "no threshold": async (by) => {
    await threshold(by, { above: "1" });
    return () => threshold(by, {});
  },
  "a platform role": async () => {
    const [admin, other] = [await official(), await newOrganization()];
    await growStale(admin);
    return () => setRoles(admin, other.userId, ["support"]);
  },
  "the end of a ban": async () => {
    const [admin, other] = [await official(), await newOrganization()];
    await ban(admin, other.userId);
    await growStale(admin);
    return () => unban(admin, other.userId);
  },
};

test.each(Object.entries(moreGivings))("%s asks for a recent proof of identity", async (_id, prepare) => {
  const owner = await newOrganization();
  const admin = await newMember(owner, "admin");
  const give = await prepare(admin, owner);
  await growStale(admin);
  const before = await database().select({ rows: count() }).from(auditEvents);
  const { status, problem } = await give();
  expect([status, problem.code]).toEqual([428, "step_up_required"]);
  expect(problem.nextActions[0]?.metadata).toMatchObject({ methods: ["password"] });
  expect(await database().select({ rows: count() }).from(auditEvents)).toEqual(before);
});

test("a higher threshold asks a new session too, for a proof of exactly these amounts", async () => {
  const owner = await newOrganization();
  const asked = await threshold(owner, { above: "500" });
  expect([asked.status, asked.problem.code]).toEqual([428, "step_up_required"]);
  expect((await confirm(owner.credential)).status).toBe(200);
  expect((await threshold(owner, { above: "500" })).status).toBe(428);
  const act = actAsked(asked.problem);
  expect((await send(steps.stepUp, stepUp, { as: owner.credential, body: { act, password: PASSWORD } })).status).toBe(200);
  expect((await threshold(owner, { above: "501" })).status).toBe(428);
  expect((await threshold(owner, { above: "500" })).status).toBe(200);
  expect((await threshold(owner, { above: "501" })).status).toBe(428);
});

test("one proof of identity is valid for 15 minutes, for every change in its session", async () => {
  const owner = await newOrganization();
  const second = await signIn(owner.email);
  const give = await givings["createServiceAccount"]!(owner, owner);
  await growStale(owner);
  expect((await confirm(second)).status).toBe(200);
  expect((await give()).status).toBe(428);
  expect((await confirm(owner.credential)).status).toBe(200);
  expect([(await give()).status, (await give()).status]).toEqual([201, 201]);
});

const takings: Readonly<Record<string, Giving>> = {
  revokeServiceAccount: async (by, owner) => {
    const { serviceAccountId: id } = await newKey(owner);
    return () => send(contract.revokeServiceAccount, revokeServiceAccount, { as: by.credential, id });
  },
  cancelInvitation: async (by) => {
    const { data } = await invite(by, { email: `x${by.userId}@example.com` });
    return () => cancel(by, data.invitationId);
  },
  "a lesser role": async (by, owner) => {
    const { userId } = await newMember(owner, "admin");
    return () => changeRole(by, userId, "viewer");
  },
  removeMember: async (by, owner) => {
    const { userId } = await newMember(owner, "admin");
    return () => remove(by, userId);
  },
  "a lower threshold": async (by) => {
    await threshold(by, { above: "2" });
    return () => threshold(by, { above: "1" });
  },
  suspendMandate: async (by, owner) => {
    const id = await activeMandate(owner.credential);
    return () => send(mandates.suspendMandate, suspendMandate, { as: by.credential, id });
  },
  "a narrower mandate": async (by, owner) => {
    const id = await activeMandate(owner.credential);
    const body = { agents: [], policy: { ...policy, limits: { ...policy.limits, perPayment: "0.5" } } };
    return () => send(mandates.updateMandate, updateMandate, { as: by.credential, id, body });
  },
  "a ban, and fewer platform roles": async () => {
    const [admin, other] = [await official(), await official()];
    await growStale(admin);
    return async () => {
      const { status } = await setRoles(admin, other.userId, []);
      expect(status).toBe(200);
      return ban(admin, other.userId);
    };
  },
};

test.each(Object.entries(takings))("%s removes a right and needs no proof of identity", async (_id, prepare) => {
  const owner = await newOrganization();
  const admin = await newMember(owner, "admin");
  const take = await prepare(admin, owner);
  await growStale(admin);
  expect((await take()).status).toBe(200);
});
