import { describe, expect, test } from "vitest";
import { hashEvent } from "#lib/audit/chain.ts";
import { exportAudit } from "#lib/pages/settings/export-audit.ts";
import { addEvents } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { lostRights } from "#test/lost-rights.ts";
import { createOrganization, createPerson } from "#test/tenant.ts";

useDatabase();

type Reader = { readonly userId: string; readonly cookie: string };

/**
 * A person of an organization with this many audit events, one for each quarter of an hour. The first event is about a mandate.
 */
async function reader(events: number): Promise<Reader> {
  const organizationId = await createOrganization();
  await addEvents(organizationId, events);
  const { userId, credential } = await createPerson(organizationId, "finance");
  return { userId, cookie: credential["cookie"]! };
}

async function file({ cookie }: Reader, ...rest: Parameters<typeof exportAudit> extends [unknown, ...infer Rest] ? Rest : never) {
  const parts = await Array.fromAsync(await exportAudit(cookie, ...rest));
  return parts.join("").trimEnd().split(/\r?\n/);
}

const sequences = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence);

describe("the export of audit events", () => {
  test("contains everything that is needed to compute the hash of each event again", async () => {
    const lines = await file(await reader(30), {}, "ndjson");
    expect(lines).toHaveLength(30);
    for (const line of lines) {
      const { sequence: _, hash, createdAt, subjectId = null, chain: __, ...event } = JSON.parse(line);
      expect(hashEvent({ ...event, subjectId, createdAt: new Date(createdAt) })).toBe(hash);
    }
  });

  test("as CSV has a header and one line for each event", async () => {
    const lines = await file(await reader(30), { kind: "mandates" }, "csv");
    expect(lines[0]).toMatch(/^sequence,createdAt,type,/);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('"{""at"":0}"');
  });

  test("contains the events of the chosen days in UTC, oldest first", async () => {
    const lines = await file(await reader(2_500), { since: "2026-01-03", until: "2026-01-03" }, "ndjson");
    expect(sequences(lines)).toEqual(Array.from({ length: 96 }, (_, at) => 193 + at));
  });

  test("is complete at its limit of pages, and above it says in its last line that newer events are missing", async () => {
    const both = await reader(2_000);
    expect(sequences(await file(both, {}, "ndjson", 2))).toEqual(Array.from({ length: 2_000 }, (_, at) => at + 1));
    const cut = await file(both, {}, "ndjson", 1);
    expect(sequences(cut.slice(0, -1))).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1));
    expect(JSON.parse(cut.at(-1)!)).toEqual({ notComplete: expect.stringMatching(/^This file is not complete/) });
    const csv = await file(both, {}, "csv", 1);
    expect(csv).toHaveLength(1_002);
    expect(csv.at(-1)).toMatch(/^This file is not complete/);
  });

  test("a reader can stop between two pages without matches", async () => {
    const { cookie } = await reader(2_500);
    const parts = await exportAudit(cookie, { id: "nothing-like-it" }, "ndjson");
    expect(await Array.fromAsync(parts)).toEqual(["", "", ""]);
  });

  test("is refused without a session, and without audit:read", async () => {
    await expect(exportAudit(null, {}, "csv")).rejects.toMatchObject({ code: "unauthenticated" });
    const { credential } = await createPerson(await createOrganization(), "approver");
    await expect(exportAudit(credential["cookie"]!, {}, "csv")).rejects.toMatchObject({ code: "capability_required" });
  });

  test.each(lostRights)("fails before the next page if %s", async (_, loseRights) => {
    const { userId, cookie } = await reader(1_200);
    const parts = await exportAudit(cookie, {}, "csv");
    await parts.next();
    expect((await parts.next()).value).toContain("payment.authorized");
    await loseRights(userId);
    await expect(parts.next()).rejects.toMatchObject({ code: expect.stringMatching(/^(unauthenticated|capability_required)$/) });
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });
});
