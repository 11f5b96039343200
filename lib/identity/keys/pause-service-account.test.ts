import { describe, expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import { database } from "#lib/db/client.ts";
import { authorizationOf, executionsOf } from "#lib/holds/execution-store.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { pauseServiceAccount } from "#lib/identity/keys/pause-service-account.ts";
import { resumeServiceAccount } from "#lib/identity/keys/resume-service-account.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { dispatch } from "#lib/server/entry.ts";
import { stillAdmits } from "#lib/settlement/reconcile.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { newMember, newOrganization, type Owner } from "#test/identity.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, readPayment, signed, useSettlement } from "#test/payments.ts";
import { createPerson, send, type Credential } from "#test/tenant.ts";

const databaseOf = useDatabase();
const chain = useSettlement();

const pause = (as: Credential, id: string) => send(contract.pauseServiceAccount, pauseServiceAccount, { as, id, body: {} });
const resume = (as: Credential, id: string) => send(contract.resumeServiceAccount, resumeServiceAccount, { as, id, body: {} });

/** Authorizes a payment and signs its x402 credential; `pay` executes it. */
async function newScene() {
  const scene = await paymentScene();
  const wallet = newWallet();
  await chain().mint(wallet.address, 10_000_000n);
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const agentId = scene.agent.serviceAccountId;
  const approver = await createPerson(scene.organizationId, "approver");
  return { ...scene, agentId, approver, authorizationId, pay: () => execute(scene, { authorizationId, paymentCredential }) };
}

const refusal = (error: unknown): string => (error instanceof Error ? (JSON.parse(error.message) as { code: string }).code : "");

describe("pauseServiceAccount", () => {
  test("after the answer, the agent can read but cannot ask or pay; after it is resumed, it can continue", async () => {
    const scene = await newScene();
    const { status, data } = await pause(scene.approver.credential, scene.agentId);
    expect([status, data.serviceAccountId]).toEqual([200, scene.agentId]);
    expect(data.pausedAt).toBeDefined();
    await expect(authorized(scene).catch((error: unknown) => refusal(error))).resolves.toBe("agent_paused");
    const refused = await scene.pay();
    expect([refused.status, refused.problem.code, refused.problem.nextActions[0]?.type]).toEqual([
      403,
      "agent_paused",
      "retry_later",
    ]);
    expect((await readPayment(scene, scene.authorizationId)).status).toBe(200);
    const resumed = await resume(scene.approver.credential, scene.agentId);
    expect(resumed.data).not.toHaveProperty("pausedAt");
    expect((await scene.pay()).data.settlementStatus).toBe("pending");
    const types = (await eventsAbout(scene.agentId)).map(({ type }) => type);
    expect(types.filter((type) => /paused|resumed/.test(type))).toEqual(["serviceAccount.paused", "serviceAccount.resumed"]);
  });

  test("pausing or resuming twice changes nothing; a revoked account is a 409", async () => {
    const { approver, person, agentId } = await newScene();
    const first = await pause(approver.credential, agentId);
    expect((await pause(person.credential, agentId)).data).toEqual(first.data);
    await resume(person.credential, agentId);
    await resume(person.credential, agentId);
    const types = (await eventsAbout(agentId)).map(({ type }) => type);
    expect(types.filter((type) => /paused|resumed/.test(type))).toHaveLength(2);
    await send(contract.revokeServiceAccount, revokeServiceAccount, { as: person.credential, id: agentId, body: {} });
    expect((await pause(person.credential, agentId)).problem.code).toBe("conflict");
  });

  test("a request that has passed the access check is refused after the pause", async () => {
    const scene = await newScene();
    const held = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE})`);
    const asking = authorized(scene).catch((error: unknown) => refusal(error));
    const paying = scene.pay();
    await held.blocks(2);
    await held.sql.unsafe(
      `UPDATE service_accounts SET paused_at = statement_timestamp() WHERE service_account_id = '${scene.agentId}'`,
    );
    await held.sql.unsafe("COMMIT");
    expect(await asking).toBe("agent_paused");
    expect((await paying).problem.code).toBe("forbidden");
  });

  test("a payment that was submitted before the pause may still be sent, until the account is revoked", async () => {
    const scene = await newScene();
    await scene.pay();
    await pause(scene.approver.credential, scene.agentId);
    const [execution] = await executionsOf(database(), [scene.authorizationId]);
    const authorization = await authorizationOf(database(), execution!);
    expect(await stillAdmits(execution!, authorization)).toBe(true);
    await send(contract.revokeServiceAccount, revokeServiceAccount, { as: scene.person.credential, id: scene.agentId, body: {} });
    expect(await stillAdmits(execution!, authorization)).toBe(false);
  });

  test("403 for people who may not approve and for the agent itself, 404 for another organization", async () => {
    const scene = await newScene();
    for (const role of ["developer", "finance", "viewer"] as const) {
      const { credential } = await createPerson(scene.organizationId, role);
      expect((await pause(credential, scene.agentId)).status).toBe(403);
    }
    expect((await pause(scene.agent.credential, scene.agentId)).status).toBe(403);
    expect((await pause((await newOrganization()).credential, scene.agentId)).status).toBe(404);
    expect((await scene.pay()).status).toBe(200);
  });

  test("the list of service accounts shows the pause", async () => {
    const owner: Owner = await newOrganization();
    const scene = { ...owner, colleague: await newMember(owner, "approver") };
    const created = await dispatch(
      new Request("http://localhost:3000/api/v1/auth/service-accounts", {
        method: "POST",
        headers: { ...owner.credential, "content-type": "application/json" },
        body: JSON.stringify({ name: "Scout", organizationId: owner.organizationId }),
      }),
    );
    const { serviceAccountId } = (await created.json()) as { serviceAccountId: string };
    await pause(scene.colleague.credential, serviceAccountId);
    const list = await dispatch(new Request("http://localhost:3000/api/v1/auth/service-accounts", { headers: owner.credential }));
    const { items } = (await list.json()) as { items: { pausedAt?: string }[] };
    expect(items.map(({ pausedAt }) => pausedAt !== undefined)).toEqual([true]);
  });
});
