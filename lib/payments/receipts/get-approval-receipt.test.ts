import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publicKeys } from "#lib/audit/signing-key.ts";
import * as contract from "#lib/payments/receipts/contract.ts";
import { getApprovalReceipt } from "#lib/payments/receipts/get-approval-receipt.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";
import { quoted, tamper } from "#test/audit-tampering.ts";
import { approve, checkoutScene, previewed, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { createBuyer } from "#test/mandates.ts";
import { send, type Credential } from "#test/tenant.ts";
import * as example from "../../../sdk/src/verify-receipt.ts";

useDatabase();

const get = (as: Credential, id: string) => send(contract.getApprovalReceipt, getApprovalReceipt, { as, id });

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());

async function approvedScene() {
  const { person, agent } = await checkoutScene();
  const checkoutIntentId = await previewed(shop, agent.credential);
  await reviewed(checkoutIntentId, person);
  const { status, data, problem } = await approve(checkoutIntentId, person.credential);
  if (status !== 200) throw new Error(JSON.stringify(problem));
  return { person, ...data.approval };
}

describe("getApprovalReceipt", () => {
  test("200 with a receipt that verifies and states the basket and how the person confirmed", async () => {
    const { person, approvalId } = await approvedScene();
    const { status, data } = await get(person.credential, approvalId);
    expect(status).toBe(200);
    expect(await example.verifyReceipt(data, publicKeys())).toMatchObject({ ok: true, step: "head" });
    expect(await verifyReceipt(data, publicKeys())).toMatchObject({
      ok: true,
      withProof: true,
      claims: {
        kind: "approval",
        jti: approvalId,
        sub: expect.stringMatching(/^aut_/),
        approval: { id: approvalId, basketHash: expect.stringMatching(/^[0-9a-f]{64}$/), assurance: "softwareApproved" },
      },
    });
  });

  test.each(["approved_basket_hash = 'x'", "assurance_level = 'passkeyApproved'"])(
    "503 if the approval was changed in the database: %s",
    async (change) => {
      const { person, approvalId } = await approvedScene();
      await tamper(`UPDATE checkout_approvals SET ${change} WHERE approval_id = ${quoted(approvalId)}`);
      const { problem } = await get(person.credential, approvalId);
      expect(problem.code).toBe("service_unavailable");
      expect(problem.detail).toMatch(/^The event in the log does not agree with the receipt/);
    },
  );

  test("404 for an approval of another organization, as for an unknown one", async () => {
    const { approvalId } = await approvedScene();
    const { credential: foreignKey } = (await createBuyer()).person;
    const [foreign, unknown] = [await get(foreignKey, approvalId), await get(foreignKey, "apr_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
  });
});
