import { describe, expect, test } from "vitest";
import * as identity from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson, signIn } from "#test/identity.ts";
import { ban, createOfficial, REASON, unban } from "#test/platform.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const read = (as: Credential) => send(identity.getSession, getSession, { as });

describe("unbanUser", () => {
  test("a temporary ban is lifted with a reason and the person may sign in again; a second time changes nothing", async () => {
    const operator = await createOfficial("operator");
    const person = await newPerson();
    await ban(operator, person.userId, { banExpires: new Date(Date.now() + 3_600_000).toISOString() });
    const { data } = await unban(operator, person.userId);
    expect(data.banned).toBe(false);
    for (const field of ["banReason", "banExpires"]) expect(data).not.toHaveProperty(field);
    expect((await read(await signIn(person.email))).status).toBe(200);
    expect((await unban(operator, person.userId)).status).toBe(200);
    const events = (await eventsAbout(person.userId)).filter(({ type }) => type.startsWith("platformUser."));
    expect(events.map(({ type }) => type)).toEqual(["platformUser.banned", "platformUser.unbanned"]);
    expect(events[1]).toMatchObject({ actorId: operator.userId, metadata: { reason: REASON } });
  });

  test("the ban of a person with many rights is ended only by people with the same rights", async () => {
    const [operator, admin, other] = [
      await createOfficial("operator"),
      await createOfficial("admin"),
      await createOfficial("admin"),
    ];
    expect((await ban(admin, other.userId)).status).toBe(200);
    expect((await unban(operator, other.userId)).problem.code).toBe("forbidden");
    expect((await unban(admin, other.userId)).data.banned).toBe(false);
  });

  test("400 without a reason, 404 for an unknown user", async () => {
    const operator = await createOfficial("operator");
    expect((await unban(operator, operator.userId, "")).problem.errors?.[0]?.pointer).toBe("/reason");
    expect((await unban(operator, "usr_none")).status).toBe(404);
  });
});
