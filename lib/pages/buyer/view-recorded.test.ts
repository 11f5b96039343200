import { expect, test } from "vitest";
import { recordPayment as operation } from "#lib/payments/executions/record-contract.ts";
import { recordPayment } from "#lib/payments/executions/record-payment.ts";
import { viewPayment } from "#lib/pages/buyer/view-payment.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { env } from "#lib/env.ts";
import type { AskerReader } from "#lib/identity/asker.ts";
import { post } from "#test/asking.ts";
import { view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { EUR, useRecording } from "#test/recording.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();
const recording = useRecording();

test("the page where a person decides names the account, the reference and what it counts as", async () => {
  const { at, mandateFor, invoice } = recording;
  const mandateId = await mandateFor("100", { assets: [{ ...EUR, counts: "1.12" }], records: undefined });
  const { data } = await invoice(mandateId, "50", { ...EUR, seller: { name: "Müller\u202e GmbH" }, reference: "RE 118" });
  const asked = data.policyDecision.reasons.find(({ effect }) => effect === "approval");
  const shown = await view(asked?.checkoutIntentId ?? "", at.buyer.person.credential);
  expect(shown).toMatchObject({
    payee: { domain: "Müller\ufffd GmbH", verified: false },
    elsewhere: { reference: "RE 118", account: { kind: "iban", value: "…3000" } },
    amounts: { charged: "50.00 EUR" },
    mandates: [{ asset: "USD", charged: "56" }],
  });
  expect(shown.intent.effects.movesFunds).toBe(false);
  expect(shown.payee).not.toHaveProperty("unicodeDomain");
});

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
  const payment = () => viewPayment(caller, data.authorizationId);
  const open = await payment();
  expect(open.stage).toEqual({ of: "reservation", status: "submitted" });
  expect(open.timeline.at(-1)).toMatchObject({ state: "now", title: "Made elsewhere" });
  expect(open.amounts).toMatchObject({ total: "20", counted: { amount: "20.00 USD", rate: "1 USD" } });
  const body = { idempotencyKey: "part", outcome: "paid", amount: "20", asset: "USD" };
  expect((await send(operation, recordPayment, { as: credential, id: data.authorizationId, body })).status).toBe(200);
  const closed = await payment();
  expect(closed.stage).toEqual({ of: "reservation", status: "captured" });
  expect(closed.timeline.at(-1)).toMatchObject({ state: "done", title: "Closed" });
});
