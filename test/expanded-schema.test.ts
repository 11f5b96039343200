import { beforeAll, expect, test } from "vitest";
import { pool } from "#lib/db/client.ts";
import { ask } from "#test/asking.ts";
import { approve, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, createBuyer } from "#test/mandates.ts";

useDatabase();

beforeAll(async () => {
  const tables = await pool()<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  for (const { name } of tables) await pool().unsafe(`ALTER TABLE "${name}" ADD COLUMN of_the_next_release text DEFAULT 'new'`);
});

const policy = { assets, limits: { perPayment: "1", total: "10" } };

test("payments are authorized and approved in tables with columns of the next release", async () => {
  const buyer = await createBuyer();
  const owner = await newOrganization();
  const { credential } = await newKey(owner);
  const allowed = await ask(buyer, await activeMandate(buyer.person.credential, { policy }));
  expect([allowed.status, allowed.data.policyDecision?.outcome]).toEqual([200, "allow"]);
  const asking = await activeMandate(owner.credential, { policy: { ...policy, approval: { mode: "always" } } });
  const asked = await ask(buyer, asking, {}, credential);
  const checkoutIntentId = asked.data.policyDecision.reasons.find((reason) => reason.checkoutIntentId)?.checkoutIntentId ?? "";
  await reviewed(checkoutIntentId, owner);
  expect((await approve(checkoutIntentId, owner.credential)).status).toBe(200);
  expect(await brokenSums()).toEqual([]);
});
