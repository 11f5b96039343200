import { expect, onTestFinished, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { newId } from "#lib/ids.ts";
import { viewProgress } from "#lib/pages/settings/view-progress.ts";
import { forget } from "#lib/process.ts";
import { Capability, type ProductRole } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, draftMandate, policy, type Buyer } from "#test/mandates.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization } from "#test/tenant.ts";

useDatabase();

async function execution({ organizationId, agent }: Buyer, authorizationId: string, settlementStatus: string): Promise<void> {
  const executionId = newId("execution");
  const subject = { organizationId, environment: "sandbox", mandateId: "mdt_1", subjectId: agent.serviceAccountId };
  const payment = {
    executionId,
    authorizationId,
    settlementMode: "offchainAuthorized",
    settlementStatus,
    nextCheckAt: new Date(),
  };
  await database()
    .insert(executions)
    .values({ ...subject, ...payment });
}

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

test("a denied request does not complete the step of the first authorization", async () => {
  const buyer = await createBuyer({ price: "2" });
  const { policyDecision } = await authorize(buyer, await activeMandate(buyer.person.credential), "2");
  expect(policyDecision.outcome).toBe("deny");
  expect(await doneOf(buyer.organizationId)).toEqual(["key", "mandate", "activation"]);
});

test("with the sample sellers the last steps are a settled payment and an approval, each done once it is settled", async () => {
  process.env["SANDBOX_WALLET_PRIVATE_KEY"] = `0x${"5a".repeat(32)}`;
  forget("env");
  onTestFinished(() => {
    delete process.env["SANDBOX_WALLET_PRIVATE_KEY"];
    forget("env");
  });
  const buyer = await createBuyer();
  const { organizationId } = buyer;
  expect((await progressOf(organizationId, ["buyer"])).ids).toEqual(["key", "mandate", "activation", "payment", "approval"]);
  const { credential } = buyer.person;
  const allowed = await authorize(buyer, await activeMandate(credential));
  await execution(buyer, allowed.authorizationId, "pending");
  expect((await progressOf(organizationId)).done).toMatchObject({ payment: false, approval: false });
  const asking = { policy: { ...policy, approval: { mode: "always" } } };
  const asked = await authorize(buyer, await activeMandate(credential, asking));
  await execution(buyer, asked.authorizationId, "settled");
  expect((await progressOf(organizationId)).done).toMatchObject({ payment: true, approval: true });
});

test("a person sees the steps for the organization's product roles that their role can read", async () => {
  const organizationId = await createOrganization();
  expect((await progressOf(organizationId, ["seller"])).ids).toEqual(["seller", "resource"]);
  expect((await progressOf(organizationId, ["buyer"], new Set(["payments:read"]))).ids).toEqual(["authorization"]);
});
