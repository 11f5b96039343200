import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import * as members from "#lib/identity/members/contract.ts";
import { removeMember } from "#lib/identity/members/remove-member.ts";
import { updateMember } from "#lib/identity/members/update-member.ts";
import { endConnection } from "#lib/identity/oauth/end-connection.ts";
import { authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { dispatch } from "#lib/server/entry.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization } from "#test/identity.ts";
import { connected, program, registerClient, takeTokens } from "#test/oauth.ts";
import { useServer } from "#test/server.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();
const server = useServer();

const end = (as: Credential, id: string) => send(contract.endConnection, endConnection, { id, as });

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
const asMcp = (token: string) => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-06-18",
});

/** Sends a request with the token to the URL /mcp, in this process and in another one, and returns the two HTTP status codes. */
async function statuses(token: string): Promise<number[]> {
  const { url } = await server();
  const there = await fetch(`${url}/mcp`, { method: "POST", headers: asMcp(token), body: ping });
  return [(await here(token)).status, there.status];
}

function here(token: string): Promise<Response> {
  return dispatch(new Request(`${env().BASE_URL}/mcp`, { method: "POST", headers: asMcp(token), body: ping }));
}

describe("endConnection", () => {
  test("the tokens of an ended connection are refused in every process; other tokens stay valid", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const [gone, stays] = [await connected(owner.credential, clientId), await connected(owner.credential, clientId)];
    expect(await statuses(gone.access_token)).toEqual([200, 200]);
    const { status, data } = await end(owner.credential, gone.connectionId);
    expect([status, data.connectionId]).toEqual([200, gone.connectionId]);
    expect(await statuses(gone.access_token)).toEqual([401, 401]);
    const refresh = { grant_type: "refresh_token", client_id: clientId, refresh_token: gone.refresh_token };
    expect((await takeTokens(refresh)).data.error).toBe("invalid_grant");
    expect(await statuses(stays.access_token)).toEqual([200, 200]);
    expect((await end(owner.credential, gone.connectionId)).problem.code).toBe("not_found");
    const [event] = await database()
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.entityId, gone.serviceAccountId), eq(auditEvents.type, "serviceAccount.disconnected")));
    expect(event).toMatchObject({ actorId: owner.userId, metadata: { clientId, keyId: gone.connectionId } });
  });

  test("404 for a connection of another organization, which stays valid", async () => {
    const [owner, stranger] = [await newOrganization(), await newOrganization()];
    const { access_token, connectionId } = await connected(stranger.credential, await registerClient(stranger.credential));
    expect((await end(owner.credential, connectionId)).problem.code).toBe("not_found");
    expect((await here(access_token)).status).toBe(200);
  });

  test("removing a person lists their connections, and ends them even if the person's keys are kept", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const { access_token } = await connected(admin.credential, await registerClient(admin.credential));
    const remove = (body: object) =>
      send(members.removeMember, removeMember, { id: [owner.organizationId, admin.userId], body, as: owner.credential });
    const undecided = await remove({});
    expect(undecided.problem).toMatchObject({
      code: "keys_undecided",
      errors: [{ pointer: "/keys", detail: "Connected agent: Test client, connected" }],
    });
    expect(await statuses(access_token)).toEqual([200, 200]);
    expect((await remove({ keys: "keep" })).status).toBe(200);
    expect(await statuses(access_token)).toEqual([401, 401]);
  });

  test("a connection loses the capabilities that its person's new role lacks", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const clientId = await registerClient(admin.credential);
    const capabilities = ["payments:authorize", "payments:read"];
    const { access_token } = await connected(admin.credential, clientId, { capabilities });
    const may = async () => {
      const headers = { authorization: `Bearer ${access_token}` };
      return [...(await authenticateAgent(new Request(`${env().BASE_URL}/mcp`, { headers }))).capabilities];
    };
    expect(await may()).toEqual(capabilities);
    const body = { role: "viewer", keys: "keep" };
    const id = [owner.organizationId, admin.userId];
    expect((await send(members.updateMember, updateMember, { id, body, as: owner.credential })).status).toBe(200);
    expect(await may()).toEqual(["payments:read"]);
  });
});

test("a 401 of the URL /mcp names the address of the resource metadata (RFC 9728)", async () => {
  const refused = await program("/mcp", {}, {});
  const challenge = refused.headers.get("www-authenticate") ?? "";
  expect(challenge).toMatch(/^Bearer resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/mcp", scope="[^"]+"$/);
  const address = new URL(/resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "");
  const resource = (await (await program(address.pathname)).json()) as { resource: string; authorization_servers: string[] };
  expect(resource.resource).toBe(`${address.origin}/mcp`);
  const issuer = new URL(resource.authorization_servers[0] ?? "");
  const paths = [`/.well-known/oauth-authorization-server${issuer.pathname}`, "/.well-known/oauth-authorization-server"];
  for (const path of paths) {
    const document = (await (await program(path)).json()) as Record<string, unknown>;
    expect(document).toMatchObject({
      issuer: issuer.href,
      authorization_endpoint: `${issuer.href}/oauth2/authorize`,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      registration_endpoint: `${issuer.href}/oauth2/register`,
      client_id_metadata_document_supported: true,
    });
  }
  expect((await program("/.well-known/oauth-protected-resource")).status).toBe(200);
});
