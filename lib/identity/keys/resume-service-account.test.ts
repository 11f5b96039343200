import { describe, expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { pauseServiceAccount } from "#lib/identity/keys/pause-service-account.ts";
import { resumeServiceAccount } from "#lib/identity/keys/resume-service-account.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { newOrganization } from "#test/identity.ts";
import { lostRights } from "#test/lost-rights.ts";
import { authorized, paymentScene } from "#test/payments.ts";
import { createPerson, send } from "#test/tenant.ts";

const databaseOf = useDatabase();

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

  // Whoever chooses another organization keeps the right in this one.
  test.each(lostRights.filter(([reason]) => !reason.includes("organization")))(
    "%s while it waits: the agent stays paused",
    async (_, loseRights) => {
      const scene = await paymentScene();
      const { serviceAccountId: id } = scene.agent;
      const { credential: as, userId } = await createPerson(scene.organizationId, "approver");
      await send(contract.pauseServiceAccount, pauseServiceAccount, { as, id, body: {} });
      const revoking = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
      const resuming = send(contract.resumeServiceAccount, resumeServiceAccount, { as, id, body: {} });
      await revoking.blocks();
      await loseRights(userId);
      await revoking.release();
      expect(["session_expired", "capability_required", "banned"]).toContain((await resuming).problem.code);
      await expect(authorized(scene)).rejects.toThrow("agent_paused");
    },
  );
});
