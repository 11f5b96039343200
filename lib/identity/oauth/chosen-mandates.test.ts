import { expect, test } from "vitest";
import { env } from "#lib/env.ts";
import { dispatch } from "#lib/server/routes.ts";
import { useDatabase } from "#test/database.ts";
import { asking, codeOf, decide, program, takeTokens, tokenForm } from "#test/oauth.ts";
import { activeMandate, createBuyer, intentFor } from "#test/mandates.ts";

useDatabase();

test("an account with chosen mandates sees and uses these alone, by whatever operation it asks", async () => {
  const buyer = await createBuyer();
  const [chosen, other] = [await activeMandate(buyer.person.credential), await activeMandate(buyer.person.credential)];
  const { query, verifier } = asking("countersign-cli", { scope: "" });
  const capabilities = ["payments:authorize", "mandates:read", "mandates:revoke"];
  const { data } = await decide(buyer.person.credential, query, { mandateIds: [chosen], capabilities });
  const { data: given } = await takeTokens(tokenForm("countersign-cli", codeOf(data.redirectTo), verifier));
  const headers = { authorization: `Bearer ${given.access_token}`, "content-type": "application/json" };
  const get = async (path: string) => program(`/api/v1${path}`, undefined, headers);
  const listed = (await (await get("/mandates")).json()) as { items: { mandateId: string }[] };
  expect(listed.items.map(({ mandateId }) => mandateId)).toEqual([chosen]);
  for (const path of ["", "/remaining", "/ledger"]) {
    expect([path, (await get(`/mandates/${chosen}${path}`)).status]).toEqual([path, 200]);
    expect([path, (await get(`/mandates/${other}${path}`)).status]).toEqual([path, 404]);
  }
  const post = (path: string, body: unknown) =>
    dispatch(new Request(`${env().BASE_URL}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
  const pay = (mandateId: string) => {
    const intent = intentFor(buyer, "0.5");
    return post("/payments/authorize", { mandateId, intent: { ...intent, idempotencyKey: intent.nonce } });
  };
  expect([(await pay(chosen)).status, (await pay(other)).status]).toEqual([200, 404]);
  expect((await post(`/mandates/${other}/revoke`, { reason: "Not mine." })).status).toBe(404);
});
