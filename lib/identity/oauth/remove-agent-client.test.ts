import { expect, test } from "vitest";
import { env } from "#lib/env.ts";
import { authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { removeAgentClient } from "#lib/identity/oauth/remove-agent-client.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { asking, connected, decide, registerClient } from "#test/oauth.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const remove = (as: Credential, id: string) => send(contract.removeAgentClient, removeAgentClient, { id, as });
const use = (token: string) =>
  authenticateAgent(new Request(`${env().BASE_URL}/mcp`, { headers: { authorization: `Bearer ${token}` } }));

test("removing a client ends its connections, and connections of other clients stay valid", async () => {
  const owner = await newOrganization();
  const [clientId, other] = [await registerClient(owner.credential), await registerClient(owner.credential)];
  const [gone, stays] = [await connected(owner.credential, clientId), await connected(owner.credential, other)];
  const { query } = asking(clientId);
  expect((await remove(owner.credential, clientId)).status).toBe(200);
  await expect(use(gone.access_token)).rejects.toMatchObject({ code: "api_key_invalid" });
  expect((await use(stays.access_token)).serviceAccountId).toBe(stays.serviceAccountId);
  expect((await decide(owner.credential, query)).status).toBe(400);
  expect((await remove(owner.credential, clientId)).problem.code).toBe("not_found");
});

test("404 for a client of another organization, whose connections stay valid", async () => {
  const [owner, stranger] = [await newOrganization(), await newOrganization()];
  const clientId = await registerClient(stranger.credential);
  const { access_token } = await connected(stranger.credential, clientId);
  expect((await remove(owner.credential, clientId)).problem.code).toBe("not_found");
  expect((await use(access_token)).organizationId).toBe(stranger.organizationId);
});
