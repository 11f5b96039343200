import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization, newPerson } from "#test/identity.ts";
import { accept, cancel, invite } from "#test/members.ts";

useDatabase();

const newAddress = () => `${randomBytes(8).toString("hex")}@example.com`;

describe("cancelInvitation", () => {
  test("a canceled invitation is refused, canceling twice changes nothing, and after acceptance canceling is refused", async () => {
    const owner = await newOrganization();
    const guest = await newPerson();
    const { invitationId } = (await invite(owner, { email: guest.email })).data;
    expect((await cancel(owner, invitationId)).data.status).toBe("canceled");
    expect((await cancel(owner, invitationId)).data.status).toBe("canceled");
    expect((await accept(guest, invitationTokenOf(invitationId))).status).toBe(404);
    const second = (await invite(owner, { email: guest.email })).data;
    expect(second.invitationId).not.toBe(invitationId);
    expect((await accept(guest, invitationTokenOf(second.invitationId))).status).toBe(200);
    expect((await cancel(owner, second.invitationId)).problem.code).toBe("conflict");
    const events = await eventsAbout(invitationId);
    expect(events.map(({ type, chain }) => [type, chain])).toEqual([
      ["member.invited", owner.organizationId],
      ["member.invitationCanceled", owner.organizationId],
    ]);
  });

  test("if accepting and canceling happen at the same time, one of them succeeds", async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const owner = await newOrganization();
      const guest = await newPerson();
      const { invitationId } = (await invite(owner, { email: guest.email })).data;
      const [joined, canceled] = await Promise.all([accept(guest, invitationTokenOf(invitationId)), cancel(owner, invitationId)]);
      expect([
        [200, 409],
        [404, 200],
      ]).toContainEqual([joined.status, canceled.status]);
    }
  });

  test("403 for an admin at the invitation of an owner, which stays open", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const guest = await newPerson();
    const { invitationId } = (await invite(owner, { email: guest.email, role: "owner" })).data;
    expect((await cancel(admin, invitationId)).problem.code).toBe("forbidden");
    expect((await accept(guest, invitationTokenOf(invitationId))).status).toBe(200);
  });

  test("404 for an invitation of another organization, as for an unknown one, and 403 without members:manage", async () => {
    const [owner, other] = [await newOrganization(), await newOrganization()];
    const { invitationId } = (await invite(owner, { email: newAddress() })).data;
    const [foreign, unknown] = [await cancel(other, invitationId), await cancel(other, "inv_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
    expect((await cancel(await newMember(owner, "developer"), invitationId)).problem.code).toBe("capability_required");
    expect(await eventsAbout(invitationId)).toMatchObject([{ type: "member.invited" }]);
  });

  test("a retry with the same idempotency key gets the same answer and is recorded once", async () => {
    const owner = await newOrganization();
    const { invitationId } = (await invite(owner, { email: newAddress() })).data;
    const first = await cancel(owner, invitationId, owner.organizationId, "cancel-once");
    const again = await cancel(owner, invitationId, owner.organizationId, "cancel-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
    expect(await eventsAbout(invitationId)).toHaveLength(2);
  });
});
