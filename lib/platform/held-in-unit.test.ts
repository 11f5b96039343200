import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { sumHeld } from "#lib/platform/emergency-store.ts";
import { ask } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { inUsd, useTwoTokens } from "#test/two-tokens.ts";

useDatabase();
useTwoTokens();

test("what an emergency stop releases is said in the token, and not in the unit of the mandate", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential, { policy: inUsd({ total: "5" }, { USDC: "2" }) });
  await ask(buyer, mandateId);
  const held = await sumHeld(database(), { kind: "mandate", id: mandateId }, new Date(0));
  expect(held).toMatchObject([{ asset: "USDC", count: 1, amount: "500000" }]);
});
