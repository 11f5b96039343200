import { describe, expect, test } from "vitest";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import * as identity from "#lib/identity/sessions/contract.ts";
import { rolesAfter } from "#lib/platform/roles.ts";
import { updateUserRoles } from "#lib/platform/update-user-roles.ts";
import * as contract from "#lib/platform/contract.ts";
import { selectUsers } from "#lib/platform/user-store.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { ban, createOfficial, REASON, setRoles } from "#test/platform.ts";
import { createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

const somebody = async () => createPerson(await createOrganization());

describe("updateUserRoles", () => {
  test("the new roles apply on the next request, and the platform's audit chain has the actor, the reason and the old roles", async () => {
    const admin = await createOfficial("admin");
    const person = await somebody();
    const { status, data } = await setRoles(admin, person.userId, ["auditor"]);
    expect([status, data.platformRoles]).toEqual([200, ["user", "auditor"]]);
    const { session } = (await send(identity.getSession, getSession, { as: person.credential })).data;
    expect(session.platformCapabilities).toEqual(["platform.users.read", "platform.audit.read"]);
    expect(await eventsAbout(person.userId)).toMatchObject([
      {
        chain: "platform",
        type: "platformUser.rolesUpdated",
        actorId: admin.userId,
        subjectId: person.userId,
        metadata: { platformRoles: ["user", "auditor"], before: ["user"], reason: REASON },
      },
    ]);
  });

  test("no roles or the same roles change nothing and write no event", async () => {
    const admin = await createOfficial("admin");
    const { userId } = await somebody();
    const body = { reason: REASON };
    const { status, data } = await send(contract.updateUserRoles, updateUserRoles, { as: admin.credential, id: userId, body });
    expect([status, data.platformRoles]).toEqual([200, ["user"]]);
    expect((await setRoles(admin, userId, ["user", "user"])).status).toBe(200);
    expect(await eventsAbout(userId)).toEqual([]);
  });

  test("403 for adding a role to oneself; removing one works while there is another admin", async () => {
    const [admin] = [await createOfficial("admin"), await createOfficial("admin")];
    expect((await setRoles(admin, admin.userId, ["admin", "operator"])).problem.code).toBe("forbidden");
    expect((await setRoles(admin, admin.userId, ["support"])).problem.code).toBe("forbidden");
    expect((await setRoles(admin, admin.userId, [])).status).toBe(200);
    expect((await setRoles(admin, admin.userId, ["admin"])).problem.code).toBe("capability_required");
  });

  test("a repeat gets the first reply", async () => {
    const admin = await createOfficial("admin");
    const { userId } = await somebody();
    const asked = { as: admin.credential, id: userId, body: { reason: REASON, platformRoles: ["support"] }, key: "one-change" };
    const first = await send(contract.updateUserRoles, updateUserRoles, asked);
    const again = await send(contract.updateUserRoles, updateUserRoles, asked);
    expect(again.data).toEqual(first.data);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await eventsAbout(userId)).toHaveLength(1);
  });

  test("400 without a reason or with an unknown role, 404 for an unknown user", async () => {
    const admin = await createOfficial("admin");
    const { userId } = await somebody();
    expect((await setRoles(admin, userId, [], { reason: " " })).problem.errors?.[0]?.pointer).toBe("/reason");
    expect((await setRoles(admin, userId, ["god"])).problem.errors?.[0]?.pointer).toBe("/platformRoles/0");
    expect((await setRoles(admin, "usr_none", ["support"])).status).toBe(404);
  });
});

describe("the last admin", () => {
  test("cannot be demoted, even if there is another admin who is banned", async () => {
    const admin = await createOfficial("admin");
    // Earlier tests of this file have created other admins.
    for (const other of await adminsBesides(admin.userId)) expect((await setRoles(admin, other, [])).status).toBe(200);
    expect((await setRoles(admin, admin.userId, [])).problem.code).toBe("last_admin");
    const second = await createOfficial("admin");
    expect((await ban(admin, second.userId)).status).toBe(200);
    expect((await setRoles(admin, admin.userId, [])).problem.code).toBe("last_admin");
  });

  test("stays if two admins demote each other at once", async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const [one, two] = [await createOfficial("admin"), await createOfficial("admin")];
      for (const other of await adminsBesides(one.userId)) if (other !== two.userId) await setRoles(one, other, []);
      const answers = await Promise.all([setRoles(one, two.userId, []), setRoles(two, one.userId, [])]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
      expect(await adminsBesides("")).toHaveLength(1);
    }
  });
});

async function adminsBesides(userId: string): Promise<string[]> {
  const admins = await selectUsers({ role: "admin" }, null, 100);
  return admins.filter((one) => one.id !== userId && !one.banned).map(({ id }) => id);
}

describe("rolesAfter", () => {
  test("keeps the role user, the order of the list, and each role once", () => {
    expect(rolesAfter({ self: false, current: ["user"], asked: ["admin", "support", "admin"] })).toEqual([
      "user",
      "support",
      "admin",
    ]);
    expect(rolesAfter({ self: true, current: ["user", "admin", "support"], asked: ["support"] })).toEqual(["user", "support"]);
  });
});
