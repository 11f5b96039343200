import { describe, expect, test } from "vitest";
import * as contract from "#lib/platform/contract.ts";
import { listPlatformAuditEvents } from "#lib/platform/list-platform-audit-events.ts";
import { useDatabase } from "#test/database.ts";
import { chainOfEvents } from "#test/mandates.ts";
import { createOfficial, endSessionsOf, type Official } from "#test/platform.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const list = ({ credential }: Official, query = "") =>
  send(contract.listPlatformAuditEvents, listPlatformAuditEvents, { as: credential, query });

describe("listPlatformAuditEvents", () => {
  test("shows every chain newest first, one chain by its name, one entity by its id", async () => {
    const admin = await createOfficial("admin");
    const organizationId = await chainOfEvents(4);
    await endSessionsOf(admin, (await createOfficial()).userId);
    const all = (await list(admin, "?limit=2")).data;
    expect(all.items.map(({ type }) => type)).toEqual(["session.revoked", "mandate.created"]);
    const next = (await list(admin, `?limit=2&cursor=${all.nextCursor}`)).data;
    expect(next.items.map(({ auditEventId }) => auditEventId < all.items[1]!.auditEventId)).toEqual([true, true]);
    const own = (await list(admin, `?chain=${organizationId}&limit=3`)).data;
    const rest = (await list(admin, `?chain=${organizationId}&limit=3&cursor=${own.nextCursor}`)).data;
    expect([own.items.length, rest.items.length, rest.hasMore]).toEqual([3, 1, false]);
    const [event] = own.items;
    expect((await list(admin, `?entityId=${event!.entityId}`)).data.items).toEqual([event]);
    expect((await list(admin, "?chain=platform")).data.items[0]?.type).toBe("session.revoked");
  });

  test.each([
    ["/query/limit", "?limit=0"],
    ["/query/chain", "?chain="],
    ["/query/chains", "?chains=platform"],
  ])("400 points at %s", async (pointer, query) => {
    const { status, problem } = await list(await createOfficial("auditor"), query);
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });
});
