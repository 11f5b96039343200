import assert from "node:assert/strict";
import { countersign, PaymentDenied } from "../../sdk/src/index.ts";
import { activateMandate, createMandate, getRemaining } from "#lib/mandates/contract.ts";
import { recordPayment } from "#lib/payments/executions/record-contract.ts";
import type { Parties } from "./setup.ts";
import type { Stage } from "./stage.ts";
import { section, step } from "./timeline.ts";

const EUR = { asset: "EUR", chain: "iso4217:EUR", counts: "1.12" };
/** Small, so that Ada needs no proof of identity again: five a minute are the limit. */
const policy = {
  unit: "USD" as const,
  assets: [{ asset: "USD", chain: "iso4217:USD", counts: "1" }, EUR],
  rails: ["record" as const],
  records: { payees: "any" as const },
  limits: { perPayment: "20", total: "20" },
};
const invoice = {
  amount: "15",
  asset: "EUR",
  seller: { name: "Ink and Co" },
  payee: { kind: "iban", value: "DE89370400440532013000" },
  reference: "INV-4711",
} as const;

/**
 * Shows a payment that this service does not see: an agent asks to pay an invoice, records what it paid, and a person closes it. The
 * mandate counts in USD, and the invoice is in EUR.
 */
export async function payElsewhere({ service }: Stage, { buyer, agentId, apiKey }: Parties): Promise<void> {
  section("An invoice that is paid by transfer");
  const { url } = service;
  const mandateId = await step("Ada writes a mandate in USD for payments made elsewhere", async (tell) => {
    const { mandateId: id } = await buyer.ask(createMandate, { body: { name: "Bills", policy, agents: [agentId] } });
    await buyer.ask(activateMandate, { id });
    tell("counts", "1 USD counts as 1 USD, and 1 EUR as 1.12 USD, as Ada fixed it");
    tell("limits", "20 USD in all, to any payee");
    return id;
  });
  const pay = countersign({ url, apiKey, mandateId });
  const budget = async (): Promise<string> => {
    const { limits } = await buyer.ask(getRemaining, { id: mandateId });
    return limits.find(({ pointer }) => pointer === "/limits/total")?.remaining ?? "";
  };
  const authorizationId = await step("The agent asks before it pays an invoice of 15 EUR", async (tell) => {
    const allowed = await pay.authorize({ ...invoice, operation: "invoice-4711" });
    assert.equal(allowed.held, "16.8", "15 EUR count as 16.8 USD.");
    tell("held", `16.8 USD, as 15 EUR count; ${await budget()} USD remain`);
    tell("until", allowed.deadline);
    return allowed.authorizationId;
  });
  await step("It pays in two parts by its own means, and records each", async (tell) => {
    for (const [operation, amount, counts] of [
      ["part-1", "6", "6.72"],
      ["part-2", "8", "8.96"],
    ] as const) {
      const { record } = await pay.record({ authorizationId, outcome: "partlyPaid", amount, asset: "EUR", operation });
      assert.equal(record.booked, counts);
      tell(operation, `${amount} EUR, which count as ${record.booked} USD`);
    }
    tell("remain", `${await budget()} USD: what an agent records frees nothing`);
  });
  await step("The same invoice in another spelling is denied", async (tell) => {
    const twice = await pay.authorize({ ...invoice, reference: "inv 4711" }).catch((error: unknown) => error);
    assert.ok(twice instanceof PaymentDenied, "An invoice is authorized once.");
    tell("outcome", `deny: ${twice.denialCode}`);
  });
  await step("Ada compares it with the bank, and closes the payment", async (tell) => {
    const body = { idempotencyKey: "closed-4711", outcome: "notPaid", amount: "0", asset: "EUR" } as const;
    const { payment } = await buyer.ask(recordPayment, { authorizationId, body });
    assert.deepEqual([payment.status, payment.captured, payment.released], ["closed", "15.68", "1.12"]);
    tell("payment", `closed: ${payment.captured} USD spent, ${payment.released} USD free again`);
    tell("remain", `${await budget()} USD`);
  });
}
