import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { organization, serviceAccounts } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { findTargets } from "#lib/pages/admin/find-targets.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";

useDatabase();

test("finds mandates, agents and sellers of all organizations by a part of a name, domain or organization", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  const { serviceAccountId } = buyer.agent;
  await database().update(mandates).set({ name: "Quarterly 100% budget" }).where(eq(mandates.mandateId, mandateId));
  await database()
    .update(serviceAccounts)
    .set({ name: "Zebra bot" })
    .where(eq(serviceAccounts.serviceAccountId, serviceAccountId));
  await database().update(organization).set({ name: "Okapi Labs" }).where(eq(organization.id, buyer.organizationId));
  const ids = async (text: string) => (await findTargets("sandbox", text))?.items.map(({ kind, id }) => `${kind} ${id}`);
  expect(await ids("quarterly")).toEqual([`mandate ${mandateId}`]);
  expect(await ids(" ZEBRA ")).toEqual([`agent ${serviceAccountId}`]);
  expect(await ids("okapi")).toEqual([`mandate ${mandateId}`, `agent ${serviceAccountId}`]);
  // The percent sign in the searched text is not a wildcard.
  expect(await ids("100%")).toEqual([`mandate ${mandateId}`]);
  expect(await ids("nothing has this name")).toEqual([]);
  expect(await findTargets("sandbox", "z")).toBeNull();
  expect((await findTargets("production", "zebra"))?.items).toEqual([]);
});

test("lists at most ten of each kind, those that can still be stopped first, and says that there are more", async () => {
  const buyer = await createBuyer();
  const made: string[] = [];
  for (let count = 0; count < 12; count += 1) made.push(await activeMandate(buyer.person.credential));
  await database().update(mandates).set({ name: "Numerous" }).where(eq(mandates.organizationId, buyer.organizationId));
  await database()
    .update(mandates)
    .set({ status: "revoked" })
    .where(eq(mandates.mandateId, made.at(-1)!));
  const found = await findTargets("sandbox", "numerous");
  expect(found?.more).toBe(true);
  expect(found?.items).toHaveLength(10);
  expect(found?.items.at(-1)).toMatchObject({ id: made.at(-1), isStopped: true });
});
