import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { apiKeys } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization } from "#test/identity.ts";
import { revoke, rotate, statusFor } from "#test/keys.ts";

useDatabase();

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

  test("a retry with the same idempotency key does not rotate again", async () => {
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

  test("two rotations at the same time leave one valid key", async () => {
    const owner = await newOrganization();
    const agent = await newKey(owner, ["audit:read"]);
    const replies = await Promise.all([rotate(owner, agent.serviceAccountId), rotate(owner, agent.serviceAccountId)]);
    const statuses = await Promise.all(replies.map(({ data }) => statusFor(data.apiKey!)));
    expect(statuses.toSorted()).toEqual([200, 401]);
  });

  test("404 for accounts of another organization, 403 without the capability", async () => {
    const [one, two] = [await newOrganization(), await newOrganization()];
    const agent = await newKey(two, ["audit:read"]);
    const [foreign, unknown] = [await rotate(one, agent.serviceAccountId), await rotate(one, "sa_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
    for (const role of ["approver", "finance", "viewer"] as const) {
      expect((await rotate(await newMember(two, role), agent.serviceAccountId)).status).toBe(403);
    }
    expect((await rotate({ ...two, credential: agent.credential }, agent.serviceAccountId)).status).toBe(403);
    expect(await statusFor(agent.apiKey)).toBe(200);
  });
});
