import { describe, expect, test } from "vitest";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import * as contract from "#lib/audit/contract.ts";
import { listEvents as handler } from "#lib/audit/list-events.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer } from "#test/mandates.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

const read = (as: Credential, query = "") => send(contract.listEvents, handler, { query, as });

describe("listEvents", () => {
  test("a client that continues after the last sequence reads every event once, oldest first, page by page", async () => {
    const buyer = await createBuyer();
    const mandateId = await activeMandate(buyer.person.credential);
    const { authorizationId } = await authorize(buyer, mandateId);
    const key = await createAgent(buyer.organizationId, ["audit:read"]);
    const all = (await read(key.credential)).data;
    expect(all.hasMore).toBe(false);
    expect(all.items.map(({ sequence }) => sequence)).toEqual(all.items.map((_, at) => at + 1));
    expect(all.items.at(-1)).toEqual({
      id: `aud${authorizationId.slice(3)}`,
      type: "payment.authorized",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      sequence: all.items.length,
      data: expect.objectContaining({
        entityType: "authorization",
        entityId: authorizationId,
        status: "authorized",
        mandateId,
        subjectId: buyer.agent.serviceAccountId,
        asset: "USDC",
        amount: expect.stringMatching(/^\d/),
      }),
    });
    const met = [];
    for (let [after, hasMore] = [0, true]; hasMore;) {
      const page = (await read(key.credential, `?after=${after}&limit=2`)).data;
      met.push(...page.items);
      after = page.items.at(-1)!.sequence;
      ({ hasMore } = page);
    }
    expect(met).toEqual(all.items);
    expect((await read(key.credential, `?after=${all.items.length}`)).data).toEqual({ items: [], hasMore: false });
  });

  test("an event contains ids and amounts, and no text that a person wrote", async () => {
    const organizationId = await createOrganization();
    const { credential, userId } = await createPerson(organizationId);
    const metadata = {
      email: "ada@example.com",
      reason: "Ada left.",
      name: "Ada",
      keyId: "k1",
      nested: { chain: "x" },
      chain: 5,
    };
    const event = { type: "thing.removed", actorId: userId, organizationId, entityType: "thing", entityId: "thg_1", metadata };
    await transact(async (tx) => audit(tx, event, await clock(tx)));
    const { items } = (await read(credential)).data;
    expect(items.map(({ data }) => data)).toEqual([{ entityType: "thing", entityId: "thg_1", status: "removed", keyId: "k1" }]);
  });

  test("400 points at a sequence that is not a number; 403 without audit:read", async () => {
    const organizationId = await createOrganization();
    const { credential } = await createPerson(organizationId);
    for (const wrong of ["-1", "1.5", "x", "99999999999999999999"])
      expect((await read(credential, `?after=${wrong}`)).problem.errors?.[0]?.pointer).toBe("/query/after");
    const approver = await createPerson(organizationId, "approver");
    expect((await read(approver.credential)).problem.code).toBe("capability_required");
  });
});
