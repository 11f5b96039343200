import { expect, test } from "vitest";
import * as contract from "#lib/webhooks/contract.ts";
import { listWebhookEndpoints } from "#lib/webhooks/list-webhook-endpoints.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { send } from "#test/tenant.ts";
import { create } from "#test/webhooks.ts";

useDatabase();

test("lists the endpoints of the organization, the oldest first, without their secrets", async () => {
  const [owner, other] = [await newOrganization(), await newOrganization()];
  await create(other, { url: "https://other.example.com/" });
  const made = [];
  for (const name of ["one", "two"]) made.push((await create(owner, { url: `https://example.com/${name}` })).data);
  const { data } = await send(contract.listWebhookEndpoints, listWebhookEndpoints, { as: owner.credential });
  expect(data.items).toEqual(made.map((one) => ({ ...one, secret: undefined })));
});
