import { expect, test } from "vitest";
import { readPaymentFilter } from "#lib/payments/payment-filter.ts";
import { viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { viewRecentPayments } from "#lib/pages/buyer/view-recent-payments.ts";
import { activeMandate, authorize } from "#test/mandates.ts";
import { approve, checkoutScene, open, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { createOrganization, createResource } from "#test/tenant.ts";

useDatabase();

test("home shows where a payment is now, as the page of the payments does", async () => {
  const { person, agent } = await checkoutScene();
  const mandateId = await activeMandate(person.credential, { policy: { ...open, approval: { mode: "always" } } });
  const resource = await createResource(await createOrganization("Shop"), "2");
  const { policyDecision } = await authorize({ agent, resource }, mandateId, "2");
  const scope = { organizationId: person.organizationId, environment: "sandbox" } as const;
  const stages = async () => {
    const [home] = await viewRecentPayments(scope, 5);
    const [line] = (await viewPayments(scope, readPaymentFilter({}), { limit: 5 })).items;
    return [home?.stage, line?.stage];
  };
  const asks = { of: "outcome", status: "requireApproval" };
  expect(await stages()).toEqual([asks, asks]);
  const id =
    policyDecision.reasons
      .find(({ href }) => href)
      ?.href?.split("/")
      .at(-1) ?? "";
  await reviewed(id, person);
  expect((await approve(id, person.credential)).status).toBe(200);
  const approved = { of: "checkout", status: "approved" };
  expect(await stages()).toEqual([approved, approved]);
});
