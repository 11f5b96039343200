import { eq, sql } from "drizzle-orm";
import { beforeAll, expect } from "vitest";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { recordPayment as operation } from "#lib/payments/executions/record-contract.ts";
import { recordPayment } from "#lib/payments/executions/record-payment.ts";
import { post } from "#test/asking.ts";
import { approve, view } from "#test/checkouts.ts";
import { activeMandate, createBuyer, type Buyer } from "#test/mandates.ts";
import { createAgent, send, type Credential } from "#test/tenant.ts";

export const USD = { asset: "USD", chain: "iso4217:USD" };
export const EUR = { asset: "EUR", chain: "iso4217:EUR" };

/** A policy in USD for payments that are made elsewhere. */
export const billing = (total: string, more: Record<string, unknown> = {}) => ({
  unit: "USD",
  assets: [{ ...USD, counts: "1" }],
  rails: ["record"],
  records: { payees: "any" },
  limits: { perPayment: total, total },
  ...more,
});

let count = 0;
const payee = { kind: "iban", value: "DE89 3704 0044 0532 0130 00" };

/** An invoice of its own reference. */
export function invoiceOf(amount: string, change: Record<string, unknown> = {}) {
  const name = `invoice-${++count}`;
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  const intent = { paymentChallengeType: "record", seller: { name: "Ink and Co" }, payee, amount, ...USD };
  return { ...intent, reference: name, idempotencyKey: name, expiresAt, ...change };
}

const pays = [
  "payments:authorize",
  "payments:execute",
  "payments:read",
  "mandates:read",
  "checkouts:read",
  "checkouts:preview",
] as const;

/** A buyer with an agent that pays elsewhere and a keeper that closes its payments. Call once per file. */
export function useRecording() {
  const at = {} as { buyer: Buyer; agent: Credential; agentId: string; keeper: Credential };
  beforeAll(async () => {
    at.buyer = await createBuyer();
    const { organizationId } = at.buyer;
    ({ credential: at.agent, serviceAccountId: at.agentId } = await createAgent(organizationId, pays));
    at.keeper = (await createAgent(organizationId, ["payments:record", "payments:read"])).credential;
  });
  const invoice = (mandateId: string, amount: string, change?: Record<string, unknown>) =>
    post({ mandateId, intent: invoiceOf(amount, change) }, at.agent);
  return {
    at,
    invoice,
    async allowed(mandateId: string, amount: string, change?: Record<string, unknown>): Promise<string> {
      const { data, text } = await invoice(mandateId, amount, change);
      expect(data.policyDecision?.outcome, text).toBe("allow");
      return data.authorizationId;
    },
    /** A person sees the request, proves that they are there, and approves. */
    async approved(checkoutIntentId: string) {
      const as = at.buyer.person.credential;
      await view(checkoutIntentId, as);
      await database().execute(sql`
        INSERT INTO step_ups (step_up_id, session_id, user_id, checkout_intent_id, method, basket_hash, amount, pay_to, expires_at)
        SELECT ${newId("stepUp")}, r.session_id, s.user_id, k.checkout_intent_id, 'password', k.basket_hash, k.amount, k.pay_to,
          now() + interval '1 hour'
        FROM checkout_intents k JOIN checkout_reviews r USING (checkout_intent_id) JOIN session s ON s.id = r.session_id
        WHERE k.checkout_intent_id = ${checkoutIntentId}`);
      return approve(checkoutIntentId, as);
    },
    mandateFor: (total: string, more?: Record<string, unknown>) =>
      activeMandate(at.buyer.person.credential, { policy: billing(total, more) }),
  };
}

export const record = (as: Credential, id: string, outcome: string, amount: string, asset = "USD") =>
  send(operation, recordPayment, { as, id, body: { idempotencyKey: `part-${++count}`, outcome, amount, asset } });

/** What is spent and reserved, in whole units. */
export async function budgetOf(mandateId: string): Promise<readonly number[]> {
  const [row] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
  return [Number(row!.spent) / 1e9, Number(row!.reserved) / 1e9];
}
