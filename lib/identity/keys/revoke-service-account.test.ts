import { describe, expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { newKey, newMember, newOrganization } from "#test/identity.ts";
import { revoke, rotate, statusFor } from "#test/keys.ts";
import { send } from "#test/tenant.ts";

const databaseOf = useDatabase();

describe("revokeServiceAccount", () => {
  test("refuses every key of the account, removes it from the list, and records the reason once", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const second = (await rotate(owner, agent.serviceAccountId, 3600)).data.apiKey!;
    const { status, data } = await revoke(owner, agent.serviceAccountId, { reason: "Retired." });
    expect([status, data.serviceAccountId]).toEqual([200, agent.serviceAccountId]);
    expect(data).not.toHaveProperty("apiKey");
    expect([await statusFor(agent.apiKey), await statusFor(second)]).toEqual([401, 401]);
    expect((await revoke(owner, agent.serviceAccountId)).data).toEqual(data);
    expect((await rotate(owner, agent.serviceAccountId)).problem.code).toBe("conflict");
    const list = await send(contract.listServiceAccounts, listServiceAccounts, { as: owner.credential });
    expect(list.data.items).toEqual([]);
    const events = await eventsAbout(agent.serviceAccountId);
    expect(events.map(({ type }) => type)).toEqual([
      "serviceAccount.created",
      "serviceAccount.rotated",
      "serviceAccount.revoked",
    ]);
    expect(events[2]?.metadata).toEqual({ reason: "Retired." });
  });

  test("a revocation waits only for payment transactions that began before it", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const spending = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);
    let answered = false;
    const revoking = revoke(owner, agent.serviceAccountId).then((reply) => ((answered = true), reply));
    await spending.blocks();
    expect(answered).toBe(false);
    await spending.release();
    expect((await revoking).status).toBe(200);
  });

  test("404 for accounts of another organization, 403 without the capability", async () => {
    const [one, two] = [await newOrganization(), await newOrganization()];
    const agent = await newKey(two, ["audit:read"]);
    const [foreign, unknown] = [await revoke(one, agent.serviceAccountId), await revoke(one, "sa_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
    for (const role of ["approver", "finance", "viewer"] as const) {
      expect((await revoke(await newMember(two, role), agent.serviceAccountId)).status).toBe(403);
    }
    expect((await revoke({ ...two, credential: agent.credential }, agent.serviceAccountId)).status).toBe(403);
    expect(await statusFor(agent.apiKey)).toBe(200);
  });

  test("a retry with the same idempotency key gets the same answer and is recorded once", async () => {
    const owner = await newOrganization();
    const { serviceAccountId } = await newKey(owner);
    const first = await revoke(owner, serviceAccountId, {}, "revoke-once");
    const again = await revoke(owner, serviceAccountId, {}, "revoke-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
    expect((await eventsAbout(serviceAccountId)).map(({ type }) => type)).toEqual([
      "serviceAccount.created",
      "serviceAccount.revoked",
    ]);
  });
});
