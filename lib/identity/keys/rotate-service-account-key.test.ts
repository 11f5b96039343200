import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import * as audit from "#lib/audit/contract.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import { database, mainPool } from "#lib/db/client.ts";
import { GATE } from "#lib/command/gate-store.ts";
import * as contract from "#lib/identity/contract.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { rotateServiceAccountKey as handler } from "#lib/identity/keys/rotate-service-account-key.ts";
import { apiKeys } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, type Owner } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const rotate = (as: Owner, id: string, gracePeriodSeconds?: number, key?: string) =>
  send(contract.rotateServiceAccountKey, handler, {
    id,
    body: gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds },
    as: as.credential,
    ...(key !== undefined && { key }),
  });
const revoke = (as: Owner, id: string, body: Record<string, unknown> = {}) =>
  send(contract.revokeServiceAccount, revokeServiceAccount, { id, body, as: as.credential });
const statusFor = async (apiKey: string) =>
  (await send(audit.listAuditEvents, listAuditEvents, { as: { authorization: `Bearer ${apiKey}` } })).status;

describe("rotateServiceAccountKey", () => {
  test("without grace the old key is refused on the next request, and the new one works", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const { status, data } = await rotate(owner, agent.serviceAccountId);
    expect(status).toBe(200);
    expect(data).toMatchObject({ serviceAccountId: agent.serviceAccountId, capabilities: ["audit:read"] });
    expect([await statusFor(agent.apiKey), await statusFor(data.apiKey!)]).toEqual([401, 200]);
  });

  test("with grace the replaced key works until the grace ends, and older keys do not", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const second = (await rotate(owner, agent.serviceAccountId, 3600)).data.apiKey!;
    expect([await statusFor(agent.apiKey), await statusFor(second)]).toEqual([200, 200]);
    const third = (await rotate(owner, agent.serviceAccountId, 604_800)).data.apiKey!;
    expect([await statusFor(agent.apiKey), await statusFor(second), await statusFor(third)]).toEqual([401, 200, 200]);
    const keys = await database().select().from(apiKeys).where(eq(apiKeys.serviceAccountId, agent.serviceAccountId));
    const graces = keys
      .flatMap(({ expiresAt }) => (expiresAt ? [expiresAt.getTime() - Date.now()] : []))
      .toSorted((a, b) => a - b);
    expect(Math.max(...graces)).toBeLessThanOrEqual(604_800_000);
    await database()
      .update(apiKeys)
      .set({ expiresAt: new Date() })
      .where(eq(apiKeys.keyId, second.split("_")[2]!));
    expect([await statusFor(second), await statusFor(third)]).toEqual([401, 200]);
  });

  test("400 outside 0 to 604800 seconds", async () => {
    const owner = await newOrganization();
    const { serviceAccountId } = await newKey(owner);
    for (const seconds of [-1, 604_801, 1.5]) {
      expect((await rotate(owner, serviceAccountId, seconds)).problem.errors?.[0]?.pointer).toBe("/gracePeriodSeconds");
    }
  });

  test("a repeat with the same idempotency key does not rotate again", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const first = await rotate(owner, agent.serviceAccountId, 0, "r1");
    expect((await rotate(owner, agent.serviceAccountId, 0, "r1")).problem.code).toBe("conflict");
    expect(await statusFor(first.data.apiKey!)).toBe(200);
  });

  test("a person who lacks a capability of the account cannot rotate its key, but can revoke it", async () => {
    const owner = await newOrganization();
    const developer = await newMember(owner, "developer");
    const [agent, reader] = [await newKey(owner), await newKey(owner, ["audit:read"])];
    const { status, problem } = await rotate(developer, agent.serviceAccountId);
    expect([status, problem.code]).toEqual([403, "capability_required"]);
    expect(problem.detail).toMatch(/^This service account has payments:authorize, which you do not have/);
    const keys = await database().select().from(apiKeys).where(eq(apiKeys.serviceAccountId, agent.serviceAccountId));
    expect(keys.map(({ revokedAt, expiresAt }) => [revokedAt, expiresAt])).toEqual([[null, null]]);
    expect((await rotate(developer, reader.serviceAccountId)).status).toBe(200);
    expect((await revoke(developer, agent.serviceAccountId)).status).toBe(200);
  });

  test("two rotations at once leave one key alive", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const replies = await Promise.all([rotate(owner, agent.serviceAccountId), rotate(owner, agent.serviceAccountId)]);
    const statuses = await Promise.all(replies.map(({ data }) => statusFor(data.apiKey!)));
    expect(statuses.toSorted()).toEqual([200, 401]);
  });
});

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
    const events = await database().select().from(auditEvents).where(eq(auditEvents.entityId, agent.serviceAccountId));
    expect(events.map(({ type }) => type)).toEqual([
      "serviceAccount.created",
      "serviceAccount.rotated",
      "serviceAccount.revoked",
    ]);
    expect(events[2]?.metadata).toEqual({ reason: "Retired." });
  });

  test("revocation waits for payment transactions that passed the gate before it, and no longer", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const held = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const spending = mainPool().begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`;
      entered.resolve();
      await held.promise;
    });
    await entered.promise;
    let answered = false;
    const revoking = revoke(owner, agent.serviceAccountId).then((reply) => ((answered = true), reply));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(answered).toBe(false);
    held.resolve();
    await spending;
    expect((await revoking).status).toBe(200);
  });

  test("404 for accounts of another organization, 403 without the capability", async () => {
    const [one, two] = [await newOrganization(), await newOrganization()];
    const agent = await newKey(two, ["audit:read"]);
    for (const attempt of [rotate, revoke]) {
      const [foreign, unknown] = [await attempt(one, agent.serviceAccountId), await attempt(one, "sa_never")];
      expect([foreign.status, unknown.status]).toEqual([404, 404]);
      expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
      for (const role of ["approver", "finance", "viewer"] as const) {
        expect((await attempt(await newMember(two, role), agent.serviceAccountId)).status).toBe(403);
      }
      expect((await attempt({ ...two, credential: agent.credential }, agent.serviceAccountId)).status).toBe(403);
    }
    expect(await statusFor(agent.apiKey)).toBe(200);
  });
});
