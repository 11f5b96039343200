import { describe, expect, test } from "vitest";
import { invitationIdOf, invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { newId } from "#lib/ids.ts";

describe("an invitation's token", () => {
  test("names its invitation, and is the same each time", () => {
    const id = newId("invitation");
    const token = invitationTokenOf(id);
    expect(token).toBe(invitationTokenOf(id));
    expect(token).not.toContain(id);
    expect(invitationIdOf(token)).toBe(id);
  });

  test("an id alone, the signature of another invitation and a changed signature are invalid", () => {
    const [one, two] = [newId("invitation"), newId("invitation")];
    const proof = invitationTokenOf(two).slice(-43);
    const changed = invitationTokenOf(one).replace(/.$/, (last) => (last === "A" ? "E" : "A"));
    for (const text of [one, `cit_${one.slice(4)}_${proof}`, changed, `${invitationTokenOf(one)}=`, ""]) {
      expect(invitationIdOf(text)).toBeNull();
    }
  });
});
