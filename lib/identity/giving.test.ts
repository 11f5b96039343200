import { and, eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/identity/contract.ts";
import { createServiceAccount } from "#lib/identity/create-service-account.ts";
import { setRole } from "#lib/identity/member-store.ts";
import { rotateServiceAccountKey } from "#lib/identity/rotate-service-account-key.ts";
import { organization, session, user } from "#lib/identity/tables.ts";
import { activateMandate } from "#lib/mandates/activate-mandate.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { resumeMandate } from "#lib/mandates/resume-mandate.ts";
import { suspendMandate } from "#lib/mandates/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/update-mandate.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, type Owner } from "#test/identity.ts";
import { activeMandate, draftMandate } from "#test/mandates.ts";
import { changeRole, invite } from "#test/members.ts";
import { send } from "#test/tenant.ts";

/* Whoever gives a right has it until it is given: a request that came before the right was taken does nothing afterwards. */

useDatabase();

type Reply = { readonly status: number; readonly problem: { readonly code: string } };
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
    return () => send(mandates.updateMandate, updateMandate, { as: by.credential, id, body: { agents: null } });
  },
};

/** Waits until somebody waits for a lock of this database. */
async function somebodyWaits(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    const [row] = await database().execute<{ waits: boolean }>(
      sql`SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waits`,
    );
    if (row?.waits) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("Nobody waited: the right was not read again.");
}

test.each(Object.entries(givings))("%s: a role that was taken meanwhile gives nothing", async (_id, prepare) => {
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

test.each(Object.entries(endings))("a person %s meanwhile makes no key", async (what, [status, code]) => {
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
