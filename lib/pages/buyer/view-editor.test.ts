import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import { viewEditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { useDatabase } from "#test/database.ts";
import { createAgent, createOrganization } from "#test/tenant.ts";

useDatabase();

test("offers every live agent that the mandate names, however many newer ones there are, and no revoked one", async () => {
  const organizationId = await createOrganization("Buyer");
  const [named, revoked, other] = [
    await createAgent(organizationId, []),
    await createAgent(organizationId, []),
    await createAgent(await createOrganization("Stranger"), []),
  ].map(({ serviceAccountId }) => serviceAccountId);
  await database().update(serviceAccounts).set({ revokedAt: new Date() }).where(eq(serviceAccounts.serviceAccountId, revoked!));
  for (let count = 0; count < 100; count += 1) await createAgent(organizationId, []);
  const scope = { organizationId, environment: "sandbox" as const };
  expect((await viewEditorChoices(scope)).agents).toHaveLength(100);
  const { agents } = await viewEditorChoices(scope, [named!, revoked!, other!]);
  expect(agents.map(({ id }) => id).slice(100)).toEqual([named]);
});
