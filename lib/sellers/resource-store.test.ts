import { expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { resourceOfPayment } from "#lib/sellers/resource-of-payment.ts";
import { findPayableResource, resourcesPaidTo, saveResource } from "#lib/sellers/resource-store.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { newSeller } from "#test/sellers.ts";

useDatabase();

test("a payment to an address of more than 100 resources is for the one whose path it names", async () => {
  const { credential, organizationId } = await newOrganization();
  const { sellerId, payTo, price } = await newSeller(credential, { pathTemplate: "/0" });
  const address = payTo.toLowerCase();
  const first = await findPayableResource(database(), sellerId, "report");
  await transact(async (tx) => {
    for (let number = 1; number <= 120; number += 1)
      await saveResource(tx, { ...first!, resourceId: `resource-${number}`, pathTemplate: `/${number}` });
  });
  const found = await resourcesPaidTo(database(), organizationId, address);
  const paid = (path: string) => resourceOfPayment(found, { url: `https://data.example.com${path}`, amount: price });
  expect([paid("/1"), paid("/120")]).toMatchObject([
    { sellerId, resourceId: "resource-1" },
    { sellerId, resourceId: "resource-120" },
  ]);
});
