import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { audit, transact } from "#lib/audit/transact.ts";
import { readEnds } from "#lib/audit/read-store.ts";
import { viewAudit, viewAuditEvent } from "#lib/pages/settings/view-audit.ts";
import { database } from "#lib/db/client.ts";
import { callerOf } from "#test/caller.ts";
import { useDatabase } from "#test/database.ts";
import { createOrganization, createPerson } from "#test/tenant.ts";

useDatabase();

const EVENTS = 5_200;
const DAY = 86_400_000;
const first = Date.parse("2026-01-01T00:00:00Z");

let caller: Awaited<ReturnType<typeof callerOf>>;
let userId: string;
beforeAll(async () => {
  const organizationId = await createOrganization();
  const person = await createPerson(organizationId, "finance");
  userId = person.userId;
  caller = await callerOf(person.credential);
  // The first event is about a mandate. The others are payments, a hundred per day.
  await transact(async (tx) => {
    for (let at = 0; at < EVENTS; at += 1) {
      const type = at === 0 ? "mandate.created" : "payment.authorized";
      const entityId = at === 0 ? "mdt_1" : `aut_${at}`;
      const event = { type, actorId: at === 0 ? userId : "sa_1", organizationId, entityType: "thing", entityId };
      audit(tx, { ...event, metadata: { at } }, new Date(first + (at * DAY) / 100));
    }
  });
});

const view = (filters: Parameters<typeof viewAudit>[1], cursor?: string) => viewAudit(caller, filters, cursor);

describe("viewAudit", () => {
  test("is newest first, page by page, with the names of the actors", async () => {
    const { items, nextCursor, length } = await view({});
    expect(length).toBe(EVENTS);
    expect(items.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 30 }, (_, at) => EVENTS - at));
    const second = await view({}, nextCursor);
    expect(second.items[0]?.sequence).toBe(EVENTS - 30);
  });

  test("a page searches a limited number of events; the next one continues where it ended", async () => {
    const { items, nextCursor } = await view({ kind: "mandates" });
    expect([items.length, nextCursor !== undefined]).toEqual([0, true]);
    const second = await view({ kind: "mandates" }, nextCursor);
    expect(second.items).toMatchObject([{ sequence: 1, type: "mandate.created", actorId: userId, actorName: "Ada" }]);
    expect(second.nextCursor).toBeUndefined();
  });

  test("events of an entity are found by index, events of an actor only within the searched events", async () => {
    expect((await view({ id: "mdt_1" })).items.map(({ sequence }) => sequence)).toEqual([1]);
    expect((await view({ id: userId, until: "2026-01-02" })).items.map(({ sequence }) => sequence)).toEqual([1]);
    expect((await view({ id: "nothing like this" })).items).toEqual([]);
  });

  test("days are UTC days from midnight to midnight, also if they are long ago", async () => {
    const { items } = await view({ since: "2026-01-03", until: "2026-01-03" });
    expect([items[0]?.sequence, items.length]).toEqual([300, 30]);
  });

  test("nothing is shown to another organization, nor without audit:read", async () => {
    const other = await callerOf((await createPerson(await createOrganization())).credential);
    expect((await viewAudit(other, { id: "mdt_1" }, undefined)).items).toEqual([]);
    await expect(viewAuditEvent(other, "1")).rejects.toMatchObject({ code: "not_found" });
    const approver = await callerOf((await createPerson(caller.organizationId, "approver")).credential);
    await expect(viewAudit(approver, {}, undefined)).rejects.toMatchObject({ code: "capability_required" });
  });
});

describe("an event", () => {
  test("is shown with the root of the chain and is verified with it, also the first event", async () => {
    const second = await viewAuditEvent(caller, "2");
    const one = await viewAuditEvent(caller, "1");
    const { hash } = (await readEnds(caller.organizationId))!;
    expect([second.fits, second.root]).toEqual([true, hash]);
    expect([one.fits, one.root]).toEqual([true, hash]);
    for (const place of ["0", "1.5", "x", String(EVENTS + 1)]) {
      await expect(viewAuditEvent(caller, place)).rejects.toMatchObject({ code: "not_found" });
    }
  });
});

test("an event that was changed in the database does not match its hash", async () => {
  await database().execute(sql`ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_append_only`);
  await database().execute(
    sql`UPDATE audit_entries SET actor_id = 'sa_2' WHERE chain = ${caller.organizationId} AND sequence = 77`,
  );
  expect((await viewAuditEvent(caller, "77")).fits).toBe(false);
  expect((await viewAuditEvent(caller, "78")).fits).toBe(true);
});
