import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { flushKeyUses } from "#lib/identity/keys/key-uses.ts";
import { authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { listConnections } from "#lib/identity/oauth/list-connections.ts";
import { oauthAccessToken, oauthRefreshToken } from "#lib/identity/oauth-tables.ts";
import { apiKeys } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { connected, registerClient } from "#test/oauth.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const list = async (as: Credential) => (await send(contract.listConnections, listConnections, { as })).data.items;

test("lists who connected which client to which account, and its last use; leaves out keys and other organizations", async () => {
  const [owner, stranger] = [await newOrganization(), await newOrganization()];
  await newKey(owner);
  await connected(stranger.credential, await registerClient(stranger.credential));
  const clientId = await registerClient(owner.credential);
  const { access_token, connectionId, serviceAccountId } = await connected(owner.credential, clientId);
  const line = {
    connectionId,
    clientId,
    clientName: "Test client",
    serviceAccountId,
    serviceAccountName: "Connected agent",
    capabilities: ["payments:read"],
    connectedBy: owner.userId,
    connectedByName: "Ada",
    connectedAt: expect.any(String),
  };
  expect(await list(owner.credential)).toEqual([line]);
  await authenticateAgent(new Request(`${env().BASE_URL}/mcp`, { headers: { authorization: `Bearer ${access_token}` } }));
  await flushKeyUses();
  expect(await list(owner.credential)).toEqual([{ ...line, lastUsedAt: expect.any(String) }]);
});

test("a connection whose tokens have all expired is not listed", async () => {
  const owner = await newOrganization();
  const { connectionId } = await connected(owner.credential, await registerClient(owner.credential));
  const past = new Date(Date.now() - 600_000);
  await database().update(oauthAccessToken).set({ expiresAt: past });
  await database().update(oauthRefreshToken).set({ expiresAt: past });
  await database().update(apiKeys).set({ createdAt: past }).where(eq(apiKeys.keyId, connectionId));
  expect(await list(owner.credential)).toEqual([]);
});
