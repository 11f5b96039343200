import { expect, test } from "vitest";
import * as contract from "#lib/identity/oauth/contract.ts";
import { listAgentClients } from "#lib/identity/oauth/list-agent-clients.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization } from "#test/identity.ts";
import { registerClient } from "#test/oauth.ts";
import { send } from "#test/tenant.ts";

useDatabase();

test("a member who may read keys sees only the clients of the active organization", async () => {
  const [owner, stranger] = [await newOrganization(), await newOrganization()];
  const clientId = await registerClient(owner.credential);
  await registerClient(stranger.credential);
  const viewer = await newMember(owner, "viewer");
  const { data } = await send(contract.listAgentClients, listAgentClients, { as: viewer.credential });
  expect(data.items).toEqual([
    { clientId, name: "Test client", redirectUris: ["http://127.0.0.1/callback"], createdAt: expect.any(String) },
  ]);
});
