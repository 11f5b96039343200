import { afterEach, expect, test } from "vitest";
import { ask, holdsOf } from "#test/asking.ts";
import { approve, reviewed, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, type Buyer } from "#test/mandates.ts";
import { createOrganization, createResource } from "#test/tenant.ts";
import { inUsd, useTwoTokens } from "#test/two-tokens.ts";

useDatabase();
useTwoTokens();
afterEach(async () => expect(await brokenSums()).toEqual([]));

test("a person who is asked sees the budgets in the unit, and approving keeps the hold in it", async () => {
  const owner = await newOrganization({ name: "Larkfield Research" });
  const agent = await newKey(owner);
  const policy = { ...inUsd({ total: "5" }), approval: { mode: "above", amount: "0.2" } };
  const mandateId = await activeMandate(owner.credential, { policy });
  const shop = await createOrganization("Shop");
  const pay = async (asset: string, amount: string) => {
    const resource = await createResource(shop, amount, { asset });
    return ask({ agent, resource } as unknown as Buyer, mandateId, { asset, amount });
  };
  await pay("USDC", "0.1");
  const { data } = await pay("EURX", "0.25");
  const asked = data.policyDecision.reasons.find(({ effect }) => effect === "approval");
  expect(asked).toMatchObject({ limit: "0.2", requested: "0.28", unit: "USD" });
  const checkoutIntentId = asked?.checkoutIntentId ?? "";
  const { mandates } = await view(checkoutIntentId, owner.credential);
  expect(mandates).toMatchObject([
    {
      asset: "USD",
      available: "4.62",
      charged: "0.28",
      budgets: [{ window: "total", unit: "USD", heldByOthers: "0.1", available: "4.62", availableAfter: "4.62" }],
    },
  ]);
  await reviewed(checkoutIntentId, owner);
  const { status, problem } = await approve(checkoutIntentId, owner.credential);
  expect([status, problem?.code]).toEqual([200, undefined]);
  expect(await holdsOf(mandateId)).toMatchObject([{ amount: 280_000_000n }, { amount: 100_000_000n }]);
});
