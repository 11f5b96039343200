import { describe, expect, test } from "vitest";
import { publicKeys } from "#lib/audit/signing-key.ts";
import * as contract from "#lib/payments/receipts/contract.ts";
import { getPaymentReceipt } from "#lib/payments/receipts/get-payment-receipt.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";
import { quoted, tamper } from "#test/audit-tampering.ts";
import { ask } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, createBuyer, draftMandate, type Buyer } from "#test/mandates.ts";
import { send, type Credential } from "#test/tenant.ts";
import * as example from "../../../sdk/src/verify-receipt.ts";

useDatabase();

const get = (as: Credential, id: string) => send(contract.getPaymentReceipt, getPaymentReceipt, { as, id });

async function decided(buyer: Buyer, policy: Record<string, unknown> = {}): Promise<string> {
  const limits = { perPayment: "1", total: "100" };
  const mandateId = await activeMandate(buyer.person.credential, { policy: { assets, limits, ...policy } });
  return (await ask(buyer, mandateId)).data.authorizationId;
}

const policies = {
  allow: {},
  deny: { limits: { perPayment: "0.000001", total: "100" } },
  requireApproval: { approval: { mode: "always" } },
};

describe("getPaymentReceipt", () => {
  test.each(Object.entries(policies))("200 with a receipt that verifies, for the outcome %s", async (outcome, policy) => {
    const buyer = await createBuyer();
    const authorizationId = await decided(buyer, policy);
    const { status, data } = await get(buyer.person.credential, authorizationId);
    expect(status).toBe(200);
    const verdict = await verifyReceipt(data, publicKeys());
    expect(verdict).toMatchObject({
      ok: true,
      withProof: true,
      claims: { sub: authorizationId, outcome, kind: "authorization" },
    });
  });

  test("the proof in a later reply covers more events, and an earlier reply can still be verified", async () => {
    const buyer = await createBuyer();
    const authorizationId = await decided(buyer);
    const first = (await get(buyer.person.credential, authorizationId)).data;
    for (let more = 0; more < 5; more += 1) await draftMandate(buyer.person.credential);
    await get(buyer.person.credential, await decided(buyer));
    const second = (await get(buyer.person.credential, authorizationId)).data;
    expect(second.proof!.treeSize).toBeGreaterThan(first.proof!.treeSize);
    for (const answer of [first, second]) expect((await verifyReceipt(answer, publicKeys())).ok).toBe(true);
  });

  test("many first requests for one payment at once sign its chain, and all replies can be verified", async () => {
    const buyer = await createBuyer();
    const authorizationId = await decided(buyer);
    const replies = await Promise.all(Array.from({ length: 12 }, () => get(buyer.person.credential, authorizationId)));
    for (const { data } of replies) {
      expect(await verifyReceipt(data, publicKeys())).toMatchObject({ ok: true, withProof: true });
      expect(await example.verifyReceipt(data, publicKeys())).toMatchObject({ ok: true, step: "head" });
    }
  });

  test.each([
    ["outcome", "outcome = 'allow'"],
    ["reason", "denial_code = 'daily_limit_exceeded'"],
    ["amount", "amount = amount + 1"],
    ["mandate's version", "policy_version = policy_version + 1"],
  ])("503 if the payment's %s was changed in the database, so that its event states another value", async (_, change) => {
    const buyer = await createBuyer();
    const authorizationId = await decided(buyer, policies.deny);
    await tamper(`UPDATE authorizations SET ${change} WHERE authorization_id = ${quoted(authorizationId)}`);
    const { problem } = await get(buyer.person.credential, authorizationId);
    expect(problem.code).toBe("service_unavailable");
    expect(problem.detail).toMatch(/^The (event in the log does not agree with the receipt|stored event differs from the log)/);
  });

  test("404 for a payment of another organization, as for an unknown one", async () => {
    const buyer = await createBuyer();
    const authorizationId = await decided(buyer);
    const [foreign, unknown] = [await get(buyer.foreign, authorizationId), await get(buyer.foreign, "aut_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
  });
});
