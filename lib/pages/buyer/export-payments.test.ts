import { describe, expect, test } from "vitest";
import { csvName, paymentsCsv, recordExport } from "#lib/pages/buyer/export-payments.ts";
import { readPaymentFilter } from "#lib/payments/payment-filter.ts";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { lostRights } from "#test/lost-rights.ts";
import { seedPayments } from "#test/many-payments.ts";
import { authorized, paymentScene } from "#test/payments.ts";
import { createOrganization, createPerson } from "#test/tenant.ts";
import { eq } from "drizzle-orm";

useDatabase();

type Exporter = { readonly organizationId: string; readonly person: Awaited<ReturnType<typeof createPerson>> };

/** A person of an organization that has this many payments. */
async function exporter(payments: number): Promise<Exporter> {
  const organizationId = await createOrganization();
  await seedPayments(organizationId, payments);
  return { organizationId, person: await createPerson(organizationId) };
}

function csv({ organizationId, person }: Exporter, query: Record<string, string> = {}, pagesMax?: number) {
  const scope = { organizationId, environment: "sandbox" } as const;
  return paymentsCsv(person.credential["cookie"]!, scope, readPaymentFilter(query), pagesMax);
}

async function file(...of: Parameters<typeof csv>): Promise<string[]> {
  const parts = await Array.fromAsync(csv(...of));
  return parts.join("").trimEnd().split("\r\n");
}

describe("the export of payments", () => {
  test("contains only the filtered payments of the organization, with times in UTC", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    const denied = await authorized(scene, { amount: "0.26", intentId: "too-much" });
    await authorized(await paymentScene());
    const [head, ...lines] = await file(scene);
    expect(head?.split(",").slice(0, 3)).toEqual(["createdAt", "authorizationId", "outcome"]);
    expect(lines.map((line) => line.split(",")[1])).toEqual([denied.authorizationId, authorizationId]);
    expect(lines[0]).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z,/);
    expect(lines[0]).toContain(",deny,challenge_mismatch,deny,,0.26,0.26,USDC,");
    expect(await file(scene, { outcome: "allow" })).toHaveLength(2);
    expect(await file(scene, { q: "nothing-like-it" })).toHaveLength(1);
  });

  test("reads many pages without losing or repeating a payment", async () => {
    const lines = await file(await exporter(2_300));
    expect(lines).toHaveLength(2_301);
    expect(new Set(lines).size).toBe(2_301);
  });

  test("has the day in its name, and is in the audit log with its filter", async () => {
    const { organizationId, person } = await paymentScene();
    const now = await recordExport(
      { organizationId, userId: person.userId },
      { q: "acme.example", outcome: "deny", cursor: "x" },
    );
    expect(csvName(now)).toBe(`payments-${now.toISOString().slice(0, 10)}.csv`);
    const events = await database().select().from(auditEvents).where(eq(auditEvents.entityId, organizationId));
    expect(events.at(-1)).toMatchObject({
      type: "payment.exported",
      actorId: person.userId,
      metadata: { filter: { q: "acme.example", outcome: "deny" } },
    });
  });

  test("is complete at its limit, and above it says in its last line that older payments are missing", async () => {
    const both = await exporter(1_000);
    expect(await file(both, {}, 2)).toHaveLength(1_001);
    const [, ...lines] = await file(both, {}, 1);
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toMatch(/^This file is not complete/);
  });
});

describe("an export whose reader loses the right to read", () => {
  test.each(lostRights)("fails before the next page if %s", async (_, loseRights) => {
    const reader = await exporter(1_200);
    const parts = csv(reader);
    await parts.next();
    expect((await parts.next()).value).toContain("aut_");
    await loseRights(reader.person.userId);
    await expect(parts.next()).rejects.toMatchObject({ code: expect.stringMatching(/^(unauthenticated|capability_required)$/) });
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });
});
