import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/keys/contract.ts";
import { pauseServiceAccount } from "#lib/identity/keys/pause-service-account.ts";
import { resumeServiceAccount } from "#lib/identity/keys/resume-service-account.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { authorized, paymentScene } from "#test/payments.ts";
import { createPerson, send } from "#test/tenant.ts";

useDatabase();

describe("resumeServiceAccount", () => {
  test("the agent can ask again, resuming twice changes nothing, and only people who may approve can resume", async () => {
    const scene = await paymentScene();
    const { serviceAccountId: id } = scene.agent;
    const approver = await createPerson(scene.organizationId, "approver");
    const resume = (as = approver.credential) => send(contract.resumeServiceAccount, resumeServiceAccount, { as, id, body: {} });
    expect((await resume()).data).not.toHaveProperty("pausedAt");
    await send(contract.pauseServiceAccount, pauseServiceAccount, { as: approver.credential, id, body: {} });
    await expect(authorized(scene)).rejects.toThrow("agent_paused");
    const viewer = await createPerson(scene.organizationId, "viewer");
    expect((await resume(viewer.credential)).status).toBe(403);
    expect((await resume((await newOrganization()).credential)).status).toBe(404);
    await expect(authorized(scene)).rejects.toThrow("agent_paused");
    expect((await resume()).data).not.toHaveProperty("pausedAt");
    expect((await authorized(scene)).policyDecision.outcome).toBe("allow");
  });
});
