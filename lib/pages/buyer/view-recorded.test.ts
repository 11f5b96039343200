import { expect, test } from "vitest";
import { recordPayment as operation } from "#lib/payments/executions/record-contract.ts";
import { recordPayment } from "#lib/payments/executions/record-payment.ts";
import { viewPayment } from "#lib/pages/buyer/view-payment.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { env } from "#lib/env.ts";
import type { AskerReader } from "#lib/identity/asker.ts";
import { post } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();

test("the page of a payment that is made elsewhere says that it waits, and that it was closed", async () => {
  const buyer = await createBuyer();
  const usd = { asset: "USD", chain: "iso4217:USD" };
  const mandateId = await activeMandate(buyer.person.credential, {
    policy: {
      unit: "USD",
      assets: [{ ...usd, counts: "1" }],
      rails: ["record"],
      records: { payees: "any" },
      limits: { perPayment: "20", total: "20" },
    },
  });
  const { credential } = await createAgent(buyer.organizationId, ["payments:authorize", "payments:execute", "payments:read"]);
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  const intent = {
    paymentChallengeType: "record",
    seller: { name: "Ink and Co" },
    reference: "117",
    amount: "20",
    ...usd,
    expiresAt,
  };
  const { data, text } = await post({ mandateId, intent: { ...intent, idempotencyKey: "one" } }, credential);
  expect(data.policyDecision?.outcome, text).toBe("allow");
  const caller = (await authenticate(new Request(env().BASE_URL, { headers: buyer.person.credential }))) as AskerReader;
  const view = () => viewPayment(caller, data.authorizationId);
  const open = await view();
  expect(open.stage).toEqual({ of: "reservation", status: "submitted" });
  expect(open.timeline.at(-1)).toMatchObject({ state: "now", title: "Made elsewhere" });
  expect(open.amounts).toMatchObject({ total: "20", counted: { amount: "20.00 USD", rate: "1 USD" } });
  const body = { idempotencyKey: "part", outcome: "paid", amount: "20", asset: "USD" };
  expect((await send(operation, recordPayment, { as: credential, id: data.authorizationId, body })).status).toBe(200);
  const closed = await view();
  expect(closed.stage).toEqual({ of: "reservation", status: "captured" });
  expect(closed.timeline.at(-1)).toMatchObject({ state: "done", title: "Closed" });
});
