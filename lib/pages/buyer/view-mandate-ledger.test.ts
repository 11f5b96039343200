import { expect, test } from "vitest";
import { viewMandateLedger } from "#lib/pages/buyer/view-mandate-ledger.ts";
import { isProblem } from "#lib/problem.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer } from "#test/mandates.ts";

useDatabase();

test("each entry names the payee and the agent of its payment", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  const { authorizationId } = await authorize(buyer, mandateId);
  const scope = { organizationId: buyer.organizationId, environment: "sandbox" };
  const { items } = await viewMandateLedger(scope, mandateId, { limit: 20, cursor: undefined });
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ authorizationId, kind: "hold", asker: { name: "Agent" } });
  expect(items[0]?.seller.domain).toMatch(/\./);
});

test("404 for a mandate of another organization", async () => {
  const mandateId = await activeMandate((await createBuyer()).person.credential);
  const scope = { organizationId: (await createBuyer()).organizationId, environment: "sandbox" };
  const refused = await viewMandateLedger(scope, mandateId, { limit: 20, cursor: undefined }).catch((error: unknown) => error);
  expect(isProblem(refused) && refused.code).toBe("not_found");
});
