import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { updateOrganization } from "#lib/identity/members/update-organization.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { getSession as getSessionOperation } from "#lib/identity/sessions/contract.ts";
import { logoOf, viewOrganization } from "#lib/pages/settings/view-organization.ts";
import { viewEditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization, type Owner } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const update = (by: Owner, body: unknown, organizationId = by.organizationId) =>
  send(contract.updateOrganization, updateOrganization, { id: organizationId, body, as: by.credential });

const changesOf = async ({ organizationId }: Owner) => {
  const events = await database()
    .select({ metadata: auditEvents.metadata })
    .from(auditEvents)
    .where(and(eq(auditEvents.entityId, organizationId), eq(auditEvents.type, "organization.updated")))
    .orderBy(auditEvents.auditEventId);
  return events.map(({ metadata }) => metadata);
};

const logo = `data:image/png;base64,${btoa(String.fromCodePoint(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1))}`;

describe("updateOrganization", () => {
  test("changes the answers of the onboarding, and each change is in the audit log once", async () => {
    const owner = await newOrganization({ name: "Acme" });
    const changed = await update(owner, { name: " Okapi Labs ", productRoles: ["seller", "buyer"] });
    expect(changed.data).toMatchObject({ name: "Okapi Labs", productRoles: ["buyer", "seller"], hasLogo: false });
    expect((await update(owner, { name: "Okapi Labs" })).status).toBe(200);
    const { data } = await send(getSessionOperation, getSession, { as: owner.credential });
    expect(data.session.activeOrganization).toMatchObject({ name: "Okapi Labs", productRoles: ["buyer", "seller"] });
    expect(await changesOf(owner)).toEqual([
      { name: { from: "Acme", to: "Okapi Labs" }, productRoles: { from: ["buyer"], to: ["buyer", "seller"] } },
    ]);
  });

  test("new mandates begin with this time zone, until it is removed", async () => {
    const owner = await newOrganization();
    const scope = { organizationId: owner.organizationId, environment: "sandbox" as const };
    expect((await viewEditorChoices(scope)).timezone).toBeNull();
    expect((await update(owner, { timezone: "Europe/Vienna" })).data.timezone).toBe("Europe/Vienna");
    expect((await viewEditorChoices(scope)).timezone).toBe("Europe/Vienna");
    expect((await update(owner, { timezone: null })).data.timezone).toBeUndefined();
    expect((await viewOrganization(owner.organizationId)).timezone).toBeNull();
  });

  test("members see the logo, and its URL changes with the picture", async () => {
    const owner = await newOrganization();
    const session = async () => (await send(getSessionOperation, getSession, { as: owner.credential })).data.session;
    expect((await update(owner, { logo })).data.hasLogo).toBe(true);
    expect((await session()).activeOrganization?.logo).toMatch(/^\/settings\/organization\/logo\?v=[0-9a-f]{12}$/);
    expect((await logoOf(owner.organizationId))?.type).toBe("image/png");
    expect((await update(owner, { logo: null })).data.hasLogo).toBe(false);
    expect((await session()).activeOrganization?.logo).toBeUndefined();
    expect(await logoOf(owner.organizationId)).toBeNull();
    expect(await changesOf(owner)).toEqual([{ logo: { from: false, to: true } }, { logo: { from: true, to: false } }]);
  });

  test.each([
    ["/name", { name: "  " }],
    ["/name", { name: "x".repeat(201) }],
    ["/productRoles", { productRoles: [] }],
    ["/productRoles/0", { productRoles: ["bank"] }],
    ["/timezone", { timezone: "Mars/Olympus" }],
    ["/logo", { logo: "https://example.com/logo.png" }],
    ["/logo", { logo: "data:image/svg+xml;base64,PHN2Zy8+" }],
    ["/logo", { logo: `data:image/png;base64,${btoa("<html></html>")}` }],
  ])("400 at %s for %j", async (pointer, body) => {
    const owner = await newOrganization();
    const { status, problem } = await update(owner, body);
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
    expect(await changesOf(owner)).toEqual([]);
  });

  test("403 without members:manage, 404 for another organization", async () => {
    const owner = await newOrganization({ name: "Acme" });
    for (const role of ["approver", "developer", "finance", "viewer"] as const)
      expect((await update(await newMember(owner, role), { name: "Other" })).problem.code).toBe("capability_required");
    expect((await update(await newOrganization(), { name: "Other" }, owner.organizationId)).problem.code).toBe("not_found");
    expect((await viewOrganization(owner.organizationId)).name).toBe("Acme");
    expect((await update(await newMember(owner, "admin"), { name: "By an admin" })).status).toBe(200);
  });
});
