import { expect, test } from "vitest";
import { viewProgress } from "#lib/pages/view-progress.ts";
import { Capability, type ProductRole } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, draftMandate } from "#test/mandates.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization } from "#test/tenant.ts";

useDatabase();

const everything = new Set(Capability.options);
const progressOf = (organizationId: string, productRoles: ProductRole[] = ["buyer", "seller"], capabilities = everything) =>
  viewProgress({ organizationId, environment: "sandbox", productRoles, capabilities });
const doneOf = async (organizationId: string) =>
  Object.entries((await progressOf(organizationId)).done)
    .filter(([, done]) => done)
    .map(([id]) => id);

test("a step is done as soon as its result exists, and results of other organizations do not count", async () => {
  const buyer = await createBuyer();
  const empty = await createOrganization();
  const { credential } = buyer.person;
  expect(await doneOf(buyer.organizationId)).toEqual(["key"]);
  await draftMandate(credential);
  expect(await doneOf(buyer.organizationId)).toEqual(["key", "mandate"]);
  await authorize(buyer, await activeMandate(credential));
  await newSeller(credential);
  expect(await doneOf(buyer.organizationId)).toEqual(["key", "mandate", "activation", "authorization", "seller", "resource"]);
  expect(await doneOf(empty)).toEqual([]);
});

test("a person sees the steps for the organization's product roles that their role can read", async () => {
  const organizationId = await createOrganization();
  expect((await progressOf(organizationId, ["seller"])).ids).toEqual(["seller", "resource"]);
  expect((await progressOf(organizationId, ["buyer"], new Set(["payments:read"]))).ids).toEqual(["authorization"]);
});
