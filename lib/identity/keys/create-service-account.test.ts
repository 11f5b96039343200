import { eq } from "drizzle-orm";
import { Writable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { createLogger } from "#lib/telemetry/log.ts";
import { idempotency } from "#lib/command/tables.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { createServiceAccount as handler } from "#lib/identity/keys/create-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import { apiKeys, serviceAccounts } from "#lib/identity/tables.ts";
import { forget, perProcess } from "#lib/process.ts";
import { MembershipRole } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization, PASSWORD, type Owner } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const create = (as: Pick<Owner, "credential" | "organizationId">, body: Record<string, unknown> = {}, key?: string) =>
  send(contract.createServiceAccount, handler, {
    body: { name: "Agent", organizationId: as.organizationId, ...body },
    as: as.credential,
    ...(key !== undefined && { key }),
  });

describe("createServiceAccount", () => {
  afterEach(() => forget("telemetry/log"));

  test("201 shows the key once, and the audit event names its creator and its capabilities", async () => {
    const owner = await newOrganization();
    const { status, data } = await create(owner, { name: " Research ", capabilities: ["payments:read", "payments:authorize"] });
    expect(status).toBe(201);
    expect(data).toEqual({
      serviceAccountId: expect.stringMatching(/^sa_[0-9a-z]{26}$/),
      name: "Research",
      organizationId: owner.organizationId,
      keyPreview: expect.stringMatching(/^csk_sandbox_[0-9a-z]{16}_…[0-9a-z]{4}$/),
      capabilities: ["payments:authorize", "payments:read"],
      createdAt: expect.stringMatching(/Z$/),
      apiKey: expect.stringMatching(/^csk_sandbox_[0-9a-z]{16}_[0-9a-z]{59}$/),
    });
    const [event] = await database().select().from(auditEvents).where(eq(auditEvents.entityId, data.serviceAccountId));
    expect(event).toMatchObject({
      type: "serviceAccount.created",
      actorId: owner.userId,
      chain: owner.organizationId,
      metadata: { capabilities: data.capabilities },
    });
  });

  test.each(MembershipRole.options)("%s: a key never has more than the person who made it", async (role) => {
    const member = await newMember(await newOrganization(), role);
    const able = ["owner", "admin", "developer"].includes(role);
    const { status, data } = await create(member);
    expect(status).toBe(able ? 201 : 403);
    if (role === "developer") {
      expect(data.capabilities).toEqual(["mandates:read", "payments:read", "readiness:read", "checkouts:read"]);
      expect((await create(member, { capabilities: ["payments:authorize"] })).problem.code).toBe("capability_required");
    }
  });

  test("400 points at capabilities that no key can have, and at unknown ones", async () => {
    const owner = await newOrganization();
    const pointerFor = async (capabilities: unknown) => (await create(owner, { capabilities })).problem.errors?.[0]?.pointer;
    expect(await pointerFor(["payments:read", "mandates:manage"])).toBe("/capabilities/1");
    expect(await pointerFor(["mandates:create", "payments:authorize"])).toBe("/capabilities/1");
    expect(await pointerFor(["everything"])).toBe("/capabilities/0");
    expect(await pointerFor("payments:read")).toBe("/capabilities");
    expect((await create(owner, { capabilities: [] })).data.capabilities).toEqual([]);
  });

  test("400 points at every field of the reply that is sent as input", async () => {
    const owner = await newOrganization();
    for (const field of ["serviceAccountId", "keyPreview", "apiKey", "createdAt", "environment", "createdBy", "revokedAt"]) {
      expect((await create(owner, { [field]: "x" })).problem.errors).toMatchObject([{ pointer: `/${field}` }]);
    }
  });

  test("404 for another organization", async () => {
    const [one, two] = [await newOrganization(), await newOrganization()];
    const foreign = await create({ ...one, organizationId: two.organizationId });
    const unknown = await create({ ...one, organizationId: "org_never" });
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
    expect(await database().select().from(serviceAccounts).where(eq(serviceAccounts.organizationId, two.organizationId))).toEqual(
      [],
    );
  });

  test("a retry with the same idempotency key is a 409 that names the account and shows no key", async () => {
    const owner = await newOrganization();
    const replies = await Promise.all([create(owner, {}, "k1"), create(owner, {}, "k1"), create(owner, {}, "k1")]);
    const made = replies.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const { serviceAccountId, apiKey = "" } = made[0]!.data;
    const again = await create(owner, {}, "k1");
    for (const { status, problem } of [...replies.filter((reply) => reply.status !== 201), again]) {
      expect([status, problem.code]).toEqual([409, "conflict"]);
      expect(problem.detail).toContain(serviceAccountId);
      expect(JSON.stringify(problem)).not.toContain(apiKey.slice(30));
    }
    expect((await create(owner, { name: "Other" }, "k1")).status).toBe(422);
    const accounts = await database()
      .select()
      .from(serviceAccounts)
      .where(eq(serviceAccounts.organizationId, owner.organizationId));
    expect(accounts).toHaveLength(1);
  });

  test("no secret reaches logs, audit or any table", async () => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    forget("telemetry/log");
    perProcess("telemetry/log", () => createLogger(destination, "trace"));
    const owner = await newOrganization();
    const { data } = await create(owner, {}, "canary");
    const rotation = { id: data.serviceAccountId, body: { gracePeriodSeconds: 60 }, as: owner.credential, key: "canary-2" };
    const rotated = await send(contract.rotateServiceAccountKey, rotateServiceAccountKey, rotation);
    const cookie = decodeURIComponent(owner.credential["cookie"]!).split("=")[1]!;
    const tables = [apiKeys, auditEvents, idempotency, serviceAccounts];
    const stored = await Promise.all(tables.map((table) => database().select().from(table)));
    const sinks = lines.join() + JSON.stringify(stored);
    expect(lines.length).toBeGreaterThan(2);
    expect(sinks).toContain(data.serviceAccountId);
    for (const apiKey of [data.apiKey!, rotated.data.apiKey!]) expect(sinks).not.toContain(apiKey.split("_")[3]!.slice(0, 12));
    for (const secret of [PASSWORD, cookie.split(".")[0]!, owner.email]) expect(sinks).not.toContain(secret);
  });
});
