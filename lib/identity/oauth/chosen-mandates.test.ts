import { expect, test } from "vitest";
import { env } from "#lib/env.ts";
import { dispatch } from "#lib/server/entry.ts";
import type { Capability } from "#lib/vocabulary.ts";
import { approve, checkoutScene, open, preview, previewed, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";
import { asking, codeOf, decide, program, takeTokens, tokenForm } from "#test/oauth.ts";
import { activeMandate, authorize, createBuyer, intentFor } from "#test/mandates.ts";
import type { Credential } from "#test/tenant.ts";

useDatabase();

/** Connects the command line as an account that may use only these mandates. */
async function bound(as: Credential, mandateIds: readonly string[], capabilities: readonly Capability[]) {
  const { query, verifier } = asking("countersign-cli", { scope: "" });
  const { data } = await decide(as, query, { mandateIds, capabilities });
  const { data: given } = await takeTokens(tokenForm("countersign-cli", codeOf(data.redirectTo), verifier));
  const headers = { authorization: `Bearer ${given.access_token}`, "content-type": "application/json" };
  const get = async (path: string) => program(`/api/v1${path}`, undefined, headers);
  const list = async <T>(path: string) => ((await (await get(path)).json()) as { items: T[] }).items;
  const post = (path: string, body: unknown) =>
    dispatch(new Request(`${env().BASE_URL}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
  return { credential: { authorization: headers.authorization }, get, list, post };
}

test("an account with chosen mandates sees and uses only these, in every operation", async () => {
  const buyer = await createBuyer();
  const as = buyer.person.credential;
  const [chosen, other] = [await activeMandate(as), await activeMandate(as)];
  const { get, list, post } = await bound(
    as,
    [chosen],
    ["payments:authorize", "payments:read", "mandates:read", "mandates:revoke"],
  );
  expect((await list<{ mandateId: string }>("/mandates")).map(({ mandateId }) => mandateId)).toEqual([chosen]);
  for (const path of ["", "/remaining", "/ledger"]) {
    expect([path, (await get(`/mandates/${chosen}${path}`)).status]).toEqual([path, 200]);
    expect([path, (await get(`/mandates/${other}${path}`)).status]).toEqual([path, 404]);
  }
  const payee = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const registration = async (mandateId: string) => {
    const path = `/onchain/mandates/${mandateId}/registration-authorizations?payeeAddress=${payee}`;
    return ((await (await get(path)).json()) as { code: string }).code;
  };
  expect(await registration(chosen)).not.toBe("not_found");
  expect(await registration(other)).toBe("not_found");
  const pay = (mandateId: string) => {
    const intent = intentFor(buyer, "0.5");
    return post("/payments/authorize", { mandateId, intent: { ...intent, idempotencyKey: intent.nonce } });
  };
  expect([(await pay(chosen)).status, (await pay(other)).status]).toEqual([200, 404]);
  expect((await post(`/mandates/${other}/revoke`, { reason: "Not mine." })).status).toBe(404);

  // Another agent makes a payment under each mandate. Of these two, the account sees only the payment under its chosen mandate.
  const [mine, foreign] = [await authorize(buyer, chosen), await authorize(buyer, other)];
  const ids = (await list<{ authorization: { authorizationId: string } }>("/payments")).map(
    (one) => one.authorization.authorizationId,
  );
  expect(ids).toContain(mine.authorizationId);
  expect(ids).toHaveLength(2);
  for (const path of ["/payments", "/receipts/payments"]) {
    expect([path, (await get(`${path}/${mine.authorizationId}`)).status]).toEqual([path, 200]);
    expect([path, (await get(`${path}/${foreign.authorizationId}`)).status]).toEqual([path, 404]);
  }
});

test("a checkout of an account with chosen mandates is paid only under these, and the account sees no other checkouts", async () => {
  const shop = await openHostileStorefront();
  const { person, agent, mandateId: other } = await checkoutScene();
  const as = person.credential;
  const chosen = await activeMandate(as, { policy: open });
  const { credential, get } = await bound(as, [chosen], ["checkouts:preview", "checkouts:read", "payments:read"]);

  const foreign = await previewed(shop, agent.credential, { mandateId: other });
  await reviewed(foreign, person);
  const { data } = await approve(foreign, as);
  expect((await get(`/agent/commerce/checkouts/${foreign}`)).status).toBe(404);
  expect((await get(`/receipts/approvals/${data.approval.approvalId}`)).status).toBe(404);

  const { data: own } = await preview(shop, credential);
  expect(own.intent).toMatchObject({ mandateId: chosen, mandateStatus: "active_match" });
  const { checkoutIntentId } = own.intent;
  const shown = (await (await get(`/agent/commerce/checkouts/${checkoutIntentId}`)).json()) as { mandates: object[] };
  expect(shown.mandates).toMatchObject([{ mandateId: chosen }]);
  await reviewed(checkoutIntentId, person);
  expect((await approve(checkoutIntentId, as, { mandateId: other })).problem).toMatchObject({ code: "not_found" });
  expect((await approve(checkoutIntentId, as)).data.approval.mandateId).toBe(chosen);
  await shop.close();
});

test("400 for chosen mandates together with a capability that reads the whole organization", async () => {
  const { person } = await createBuyer();
  const mandateIds = [await activeMandate(person.credential)];
  for (const capability of ["audit:read", "billing:read"]) {
    const capabilities = ["payments:read", capability];
    const { problem } = await decide(person.credential, asking("countersign-cli", { scope: "" }).query, {
      mandateIds,
      capabilities,
    });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/capabilities/1" }] });
  }
});
