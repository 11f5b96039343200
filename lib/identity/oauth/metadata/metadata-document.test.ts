import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { database, pool } from "#lib/db/client.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { listConnections } from "#lib/identity/oauth/list-connections.ts";
import { oauthClient } from "#lib/identity/oauth-tables.ts";
import { viewConnect } from "#lib/pages/settings/view-connect.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { asking, asMember, authorize, connected, program, takeTokens } from "#test/oauth.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const loopback = "http://127.0.0.1/callback";

describe("clients with a metadata document", () => {
  const documents = new Map<string, { readonly body: string; readonly status?: number; readonly type?: string }>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const { body, status = 200, type = "application/json" } = documents.get(request.url ?? "") ?? { body: "", status: 404 };
    response.writeHead(status, { "content-type": type, ...(status === 302 && { location: "/good" }) }).end(body);
  });
  let base = "";
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    process.env["OUTBOUND_LOOPBACK"] = new URL(base).host;
    forget("env");
  });
  afterAll(() => server.close());

  const publish = (
    path: string,
    changes: Readonly<Record<string, unknown>> = {},
    more: { status?: number; type?: string } = {},
  ) => {
    const document = {
      client_id: `${base}${path}`,
      client_name: "Site agent",
      redirect_uris: [loopback, "ms-msdt:x"],
      ...changes,
    };
    documents.set(path, { body: JSON.stringify(document), ...more });
    return `${base}${path}`;
  };
  const errorOf = async (clientId: string) => (await authorize(asking(clientId).query)).searchParams.get("error");

  test("connect under the address of the document, which is read once in five minutes", async () => {
    const owner = await newOrganization();
    const clientId = publish("/good");
    const page = await authorize(asking(clientId).query);
    const view = await viewConnect(await asMember(owner), page.search.slice(1));
    expect(view).toMatchObject({ kind: "ask", view: { registration: "site", document: clientId, clientName: "Site agent" } });
    const first = await connected(owner.credential, clientId);
    const form = { grant_type: "refresh_token", client_id: clientId, refresh_token: first.refresh_token };
    expect((await takeTokens(form)).status).toBe(200);
    expect(asked.filter((path) => path === "/good")).toHaveLength(1);
    const [row] = await database().select().from(oauthClient).where(eq(oauthClient.clientId, clientId));
    expect(row).toMatchObject({ redirectUris: [loopback], expiresAt: null, referenceId: null });
  });

  test("a change of the document counts, also for its connections' names, and an outage of its site ends no connection", async () => {
    const owner = await newOrganization();
    const clientId = publish("/changes");
    const { refresh_token } = await connected(owner.credential, clientId);
    forget("identity/oauth/metadata/metadata-document");
    publish("/changes", { client_name: "New name", redirect_uris: ["https://agent.example/cb"] });
    expect(await errorOf(clientId)).toBe("invalid_redirect");
    const { data } = await send(contract.listConnections, listConnections, { as: owner.credential });
    expect(data.items.map(({ clientName }) => clientName)).toEqual(["New name"]);
    forget("identity/oauth/metadata/metadata-document");
    documents.delete("/changes");
    expect(await errorOf(clientId)).toBe("invalid_document");
    expect((await takeTokens({ grant_type: "refresh_token", client_id: clientId, refresh_token })).status).toBe(200);
  });

  test("a change of the document of a client in use counts also while no other client can come", async () => {
    const owner = await newOrganization();
    const [used, waiting] = [publish("/used"), publish("/waiting")];
    await connected(owner.credential, used);
    await pool()`
      INSERT INTO oauth_client (id, client_id, name, redirect_uris, token_endpoint_auth_method, grant_types, require_pkce, expires_at)
      SELECT 'full' || n, 'full' || n, 'x', '{}', 'none', '{}', true, clock_timestamp() + interval '24 hours'
      FROM generate_series(1, 5000) n`;
    onTestFinished(async () => void (await pool()`DELETE FROM oauth_client WHERE id LIKE 'full%'`));
    forget("identity/oauth/metadata/metadata-document");
    publish("/used", { client_name: "Still here" });
    expect(await errorOf(used)).toBe(null);
    const { data } = await send(contract.listConnections, listConnections, { as: owner.credential });
    expect(data.items.map(({ clientName }) => clientName)).toEqual(["Still here"]);
    expect((await program(`/api/auth/oauth2/authorize?${asking(waiting).query}`)).status).toBe(429);
  });

  test("a document is refused that names another client, has a secret, no allowed redirect, is too large, moved or not JSON", async () => {
    const wrong = [
      publish("/other", { client_id: `${base}/good` }),
      publish("/secret", { client_secret: "x" }),
      publish("/method", { token_endpoint_auth_method: "client_secret_post" }),
      publish("/schemes", { redirect_uris: ["ms-msdt:x"] }),
      publish("/large", { padding: "x".repeat(65_536) }),
      publish("/moved", {}, { status: 302 }),
      publish("/failed", {}, { status: 500 }),
      publish("/html", {}, { type: "text/html" }),
      `${base}/missing`,
    ];
    for (const clientId of wrong) expect([clientId, await errorOf(clientId)]).toEqual([clientId, "invalid_document"]);
    const rows = await database().select().from(oauthClient);
    expect(rows.filter(({ clientId }) => wrong.includes(clientId))).toEqual([]);
  });

  test("an id that is not the plain address of a document is never requested", async () => {
    const before = asked.length;
    const ids = [
      `${base}/`,
      `${base}/good?x=1`,
      `${base}/a/../good`,
      `${base.replace("http:", "HTTP:")}/good`,
      "http://10.0.0.1/x",
    ];
    for (const id of ids) expect([id, await errorOf(id)]).toEqual([id, "invalid_client"]);
    expect(asked).toHaveLength(before);
  });
});
