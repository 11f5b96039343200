import { describe, expect, test } from "vitest";
import * as contract from "#lib/audit/contract.ts";
import { listAuditEvents as handler } from "#lib/audit/list-audit-events.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization, type Owner } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const list = (as: Pick<Owner, "credential">, query = "") => send(contract.listAuditEvents, handler, { query, as: as.credential });

describe("listAuditEvents", () => {
  test("lists newest first, page by page, each event once, also while more are written", async () => {
    const owner = await newOrganization();
    const agents = [];
    for (let at = 0; at < 5; at += 1) agents.unshift((await newKey(owner)).serviceAccountId);
    const met: string[] = [];
    let query = "?limit=2";
    for (let turn = 0; turn < 3; turn += 1) {
      const { data } = await list(owner, query);
      met.push(...data.items.map(({ entityId }) => entityId));
      expect(data.hasMore).toBe(turn < 2);
      await newKey(owner);
      query = `?limit=2&cursor=${data.nextCursor}`;
    }
    expect(met).toEqual([...agents, owner.organizationId]);
  });

  test("an event has exactly the contract's fields, and commitments to its personal texts", async () => {
    const owner = await newOrganization();
    const { items } = (await list(owner)).data;
    expect(items).toEqual([
      {
        auditEventId: expect.stringMatching(/^aud_/),
        type: "organization.created",
        actorId: owner.userId,
        organizationId: owner.organizationId,
        subjectId: owner.userId,
        entityType: "organization",
        entityId: owner.organizationId,
        metadata: { name: "Acme", slug: expect.any(String), productRoles: ["buyer"] },
        commitments: { name: expect.stringMatching(/^[0-9a-f]{64}$/), slug: expect.stringMatching(/^[0-9a-f]{64}$/) },
        salts: { name: expect.stringMatching(/^[0-9a-f]{64}$/), slug: expect.stringMatching(/^[0-9a-f]{64}$/) },
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
    ]);
  });

  test("entityId filters by one entity; an entity of another organization gives an empty list", async () => {
    const [one, two] = [await newOrganization(), await newOrganization()];
    const agent = await newKey(one);
    const { items } = (await list(one, `?entityId=${agent.serviceAccountId}`)).data;
    expect(items.map(({ type }) => type)).toEqual(["serviceAccount.created"]);
    expect((await list(two, `?entityId=${agent.serviceAccountId}`)).data).toEqual({ items: [], hasMore: false });
  });

  test("403 without audit:read, 400 for a cursor of another list", async () => {
    const owner = await newOrganization();
    expect((await list(await newMember(owner, "approver"))).problem.code).toBe("capability_required");
    expect((await list(await newKey(owner))).problem.code).toBe("capability_required");
    const foreign = Buffer.from("1:sa_1").toString("base64url");
    expect((await list(owner, `?cursor=${foreign}`)).problem.errors?.[0]?.pointer).toBe("/query/cursor");
  });
});
