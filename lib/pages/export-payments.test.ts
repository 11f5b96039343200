import { describe, expect, test } from "vitest";
import { csvName, paymentsCsv, recordExport } from "#lib/pages/export-payments.ts";
import { readPaymentFilter } from "#lib/payments/payment-filter.ts";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { seedPayments } from "#test/many-payments.ts";
import { authorized, paymentScene } from "#test/payments.ts";
import { eq } from "drizzle-orm";

useDatabase();

async function file(organizationId: string, query: Record<string, string> = {}): Promise<string[]> {
  const parts = await Array.fromAsync(paymentsCsv({ organizationId, environment: "sandbox" }, readPaymentFilter(query)));
  return parts.join("").trimEnd().split("\r\n");
}

describe("the export of payments", () => {
  test("contains only the filtered payments of the organization, with times in UTC", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    const denied = await authorized(scene, { amount: "0.26", intentId: "too-much" });
    await authorized(await paymentScene());
    const [head, ...lines] = await file(scene.organizationId);
    expect(head?.split(",").slice(0, 3)).toEqual(["createdAt", "authorizationId", "outcome"]);
    expect(lines.map((line) => line.split(",")[1])).toEqual([denied.authorizationId, authorizationId]);
    expect(lines[0]).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z,/);
    expect(lines[0]).toContain(",deny,challenge_mismatch,deny,,0.26,0.26,USDC,");
    expect(await file(scene.organizationId, { outcome: "allow" })).toHaveLength(2);
    expect(await file(scene.organizationId, { q: "nothing-like-it" })).toHaveLength(1);
  });

  test("reads many pages without losing or repeating a payment, and has no limit", async () => {
    await seedPayments("org_long", 2_300);
    const lines = await file("org_long");
    expect(lines).toHaveLength(2_301);
    expect(new Set(lines).size).toBe(2_301);
  });

  test("is named by its day, and is in the audit log with its filter", async () => {
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
});
