import { sql } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { approve, checkoutScene, previewed, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";

useDatabase();

test("428 asks for the password above the organization's threshold, and not at the threshold", async () => {
  const shop = await openHostileStorefront();
  onTestFinished(() => shop.close());
  const scene = await checkoutScene();
  const checkoutIntentId = await previewed(shop, scene.agent.credential);
  const { credential, organizationId } = scene.person;
  // Mark the seller as already paid, so that only the amount can require a step-up (a new proof of identity).
  await database()
    .execute(sql`INSERT INTO mandate_sellers SELECT ${scene.mandateId}, coalesce(seller_id, domain || ' ' || lower(pay_to)), now()
      FROM checkout_intents WHERE checkout_intent_id = ${checkoutIntentId}`);
  const threshold = (below: string) =>
    database()
      .execute(sql`UPDATE organization SET step_up_above = (SELECT amount / 10::numeric ^ token_decimals - ${below}::numeric
        FROM checkout_intents WHERE checkout_intent_id = ${checkoutIntentId}) WHERE id = ${organizationId}`);
  await threshold("0");
  expect((await view(checkoutIntentId, credential)).stepUp).toMatchObject({ required: false, reasons: [] });
  await threshold("0.0000005");
  expect((await view(checkoutIntentId, credential)).stepUp).toMatchObject({ required: true, reasons: ["amount"] });
  expect((await approve(checkoutIntentId, credential)).problem).toMatchObject({ status: 428, code: "step_up_required" });
  await threshold("0");
  expect((await approve(checkoutIntentId, credential)).status).toBe(200);
});
