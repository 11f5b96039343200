import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession as handler } from "#lib/identity/sessions/get-session.ts";
import { Capability } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, newPerson } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const ask = (as: Credential) => send(contract.getSession, handler, { as });

describe("getSession", () => {
  test("before the onboarding no organization is active, and absent fields are left out", async () => {
    const person = await newPerson("Ada");
    const { status, data } = await ask(person.credential);
    expect(status).toBe(200);
    expect(data).toEqual({
      session: {
        authenticated: true,
        subject: { subjectId: person.userId, type: "user" },
        provider: "emailPassword",
        authMethods: { emailPassword: true, magicLink: true, passkey: true, wallet: true, google: false, github: false },
        user: { userId: person.userId, email: person.email, name: "Ada", emailVerified: false },
        organizations: [],
        productRoles: [],
        capabilities: [],
        platformRoles: ["user"],
        platformCapabilities: [],
        onboardingRequired: true,
      },
    });
  });

  test("an owner has every capability in the active organization, a viewer those of a viewer", async () => {
    const owner = await newOrganization({ productRoles: ["seller"] });
    const { session } = (await ask(owner.credential)).data;
    expect(session.capabilities).toEqual(Capability.options);
    expect(session.productRoles).toEqual(["seller"]);
    expect(session.onboardingRequired).toBe(false);
    const viewer = await newMember(owner, "viewer");
    const seen = (await ask(viewer.credential)).data.session;
    expect(seen.activeOrganization?.membershipRole).toBe("viewer");
    expect(seen.capabilities.every((capability) => capability.endsWith(":read"))).toBe(true);
  });

  test("401 without a session, with a link to sign in; 403 for an API key", async () => {
    const { status, problem } = await ask({});
    expect([status, problem.nextActions[0]?.type]).toEqual([401, "sign_in"]);
    const agent = await newKey(await newOrganization());
    expect((await ask(agent.credential)).problem.code).toBe("forbidden");
  });
});
