import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database, pool } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { noteAddress } from "#lib/http/address.ts";
import { authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { listConnections } from "#lib/identity/oauth/list-connections.ts";
import { oauthClient } from "#lib/identity/oauth-tables.ts";
import { forgetOldSessions } from "#lib/identity/sessions/forget-old-sessions.ts";
import { viewConnect } from "#lib/pages/settings/view-connect.ts";
import { dispatch } from "#lib/server/entry.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import {
  anyAddress,
  asking,
  asMember,
  authorize,
  codeOf,
  connected,
  decide,
  program,
  registerClient as registerFor,
  takeTokens,
  tokenForm,
} from "#test/oauth.ts";
import { send } from "#test/tenant.ts";

useDatabase();

type Answer = {
  readonly client_id: string;
  readonly client_name: string;
  readonly error?: string;
  readonly redirect_uris: string[];
};

const loopback = "http://127.0.0.1/callback";

/** Sends metadata as the official clients do, by default from a random address. */
async function register(metadata: unknown, address = anyAddress(), type: string | null = "application/json") {
  const body = typeof metadata === "string" ? metadata : JSON.stringify(metadata);
  const request = new Request(`${env().BASE_URL}/api/auth/oauth2/register`, {
    method: "POST",
    body: new TextEncoder().encode(body),
    headers: type === null ? {} : { "content-type": type },
  });
  noteAddress(request, address);
  const answer = await dispatch(request);
  return { status: answer.status, headers: answer.headers, data: (await answer.json()) as Answer };
}

const registered = async (): Promise<string> =>
  (await register({ redirect_uris: [loopback], client_name: "Stranger" })).data.client_id;

describe("registration of a client by itself", () => {
  test("gives a client without a secret, which works in an organization only after a person there allows it", async () => {
    const asked = {
      redirect_uris: [loopback, loopback],
      client_name: "  Research\nagent ",
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: "payments:read",
      application_type: "native",
      software_id: "x",
    };
    const { status, headers, data } = await register(asked);
    expect([status, headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(data).toEqual({
      client_id: expect.stringMatching(/^cli_[0-9a-z]{26}$/),
      client_id_issued_at: expect.any(Number),
      client_name: "Research agent",
      redirect_uris: [loopback],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
    const clientId = data.client_id;
    const [first, second] = [await newOrganization(), await newOrganization()];
    const { query, verifier } = asking(clientId);
    const page = await authorize(query);
    expect([page.pathname, page.searchParams.has("error")]).toEqual(["/connect", false]);
    expect(await takeTokens(tokenForm(clientId, "no-code", verifier))).toMatchObject({ status: 400 });
    const view = await viewConnect(await asMember(first), page.search.slice(1));
    expect(view).toMatchObject({ kind: "ask", view: { registration: "itself", document: null, clientName: "Research agent" } });

    for (const owner of [first, second]) {
      const tokens = await connected(owner.credential, clientId);
      const caller = await authenticateAgent(
        new Request(`${env().BASE_URL}/mcp`, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
      );
      expect(caller).toMatchObject({ organizationId: owner.organizationId, serviceAccountId: tokens.serviceAccountId });
    }
    const { data: listed } = await send(contract.listConnections, listConnections, { as: first.credential });
    expect(listed.items.map(({ clientName }) => clientName)).toEqual(["Research agent"]);
  });

  test("a client that another organization registered stays refused, and nobody can register an id", async () => {
    const [owner, stranger] = [await newOrganization(), await newOrganization()];
    const theirs = await registerFor(stranger.credential);
    const { data } = await register({ redirect_uris: [loopback], client_id: theirs, reference_id: owner.organizationId });
    expect(data.client_id).not.toBe(theirs);
    const [row] = await database().select().from(oauthClient).where(eq(oauthClient.clientId, data.client_id));
    expect(row).toMatchObject({ referenceId: null, createdBy: null, requirePKCE: true, tokenEndpointAuthMethod: "none" });
    expect((await decide(owner.credential, asking(theirs).query)).status).toBe(404);
    expect((await authorize(asking(data.client_id, { code_challenge: "" }).query)).searchParams.get("error")).toBe(
      "invalid_request",
    );
  });

  test.each([
    "javascript:alert(1)",
    "ms-msdt:/id",
    "smb://host/share",
    "intent://x",
    "file:///etc/passwd",
    "x-apple.systempreferences:x",
    "http://agent.example/cb",
    "https://user@agent.example/cb",
    "https://agent.example/cb#x",
    "https://agent.example/\u202Ecb",
    "callback",
  ])("refuses the redirect address %s", async (uri) => {
    const { status, data } = await register({ redirect_uris: [loopback, uri] });
    expect([status, data.error]).toEqual([400, "invalid_redirect_uri"]);
  });

  test("refuses a redirect to this service, no redirect, too many, other grants, and bodies that are not JSON", async () => {
    const many = Array.from({ length: 11 }, (_, at) => `https://agent.example/${at}`);
    for (const redirect_uris of [[`${env().BASE_URL}/connect`], [], many, undefined, "https://agent.example/cb"])
      expect((await register({ redirect_uris })).data.error).toBe("invalid_redirect_uri");
    for (const more of [{ grant_types: ["client_credentials"] }, { response_types: ["token"] }, { client_name: 1 }])
      expect((await register({ redirect_uris: [loopback], ...more })).data.error).toBe("invalid_client_metadata");
    for (const body of ["[]", "null", "{", '{"redirect_uris":["https://a.example/"],"redirect_uris":["https://b.example/"]}'])
      expect((await register(body)).status).toBe(400);
    expect((await register({ redirect_uris: [loopback] }, anyAddress(), null)).status).toBe(415);
    expect((await register({ redirect_uris: [loopback] }, anyAddress(), "text/plain")).status).toBe(415);
    expect((await program("/api/auth/oauth2/register")).status).toBe(405);
  });

  test("a name is one line of visible characters and at most 100 of them", async () => {
    const named = async (client_name?: string) => (await register({ redirect_uris: [loopback], client_name })).data.client_name;
    expect(await named("\u202Etnega\u0007 <b>bold</b>\r\nline")).toBe("\uFFFDtnega\uFFFD <b>bold</b> line");
    expect(await named("🛒".repeat(300))).toBe("🛒".repeat(100));
    expect([await named(), await named(" \n ")]).toEqual(["Unnamed program", "Unnamed program"]);
  });

  test("an unused client is gone after 24 hours, and a used one stays", async () => {
    const owner = await newOrganization();
    const [unused, used, late] = [await registered(), await registered(), await registered()];
    const tokens = await connected(owner.credential, used);
    await pool()`UPDATE oauth_client SET expires_at = expires_at - interval '24 hours' WHERE reference_id IS NULL`;
    expect((await decide(owner.credential, asking(late).query)).status).toBe(400);
    expect(await forgetOldSessions()).toBeGreaterThanOrEqual(2);
    expect((await authorize(asking(unused).query)).searchParams.get("error")).toBe("invalid_client");
    const form = { grant_type: "refresh_token", client_id: used, refresh_token: tokens.refresh_token };
    expect((await takeTokens(form)).status).toBe(200);
    expect((await decide(owner.credential, asking(used).query)).status).toBe(201);
  });

  test("429 for the 21st registration of one address within 15 minutes; other addresses can still register", async () => {
    const address = anyAddress();
    const statuses: number[] = [];
    for (let made = 0; made < 20; made += 1) statuses.push((await register({ redirect_uris: [loopback] }, address)).status);
    expect(new Set(statuses)).toEqual(new Set([201]));
    const { status, headers, data } = await register({ redirect_uris: [loopback] }, address);
    expect([status, data.error, headers.get("retry-after")]).toEqual([429, "temporarily_unavailable", "900"]);
    expect((await register({ redirect_uris: [loopback] })).status).toBe(201);
  });

  test.each([
    ["60 of a network of 56 bits", 3, (at: number) => `2001:db8:1:12${at}0::1`, "2001:db8:1:12ff::1", "2001:db8:1:1300::1"],
    ["200 of a network of 48 bits", 10, (at: number) => `2001:db8:2:${at}00::1`, "2001:db8:2:ff00::1", "2001:db8:3::1"],
  ])("429 after %s, with refused tries that take nothing from neighbours", async (_, count, place, neighbour, other) => {
    const tried = async (address: string) => (await register({ redirect_uris: [loopback] }, address)).status;
    const statuses = [...Array.from({ length: 20 }, () => 201), 429];
    for (let at = 0; at < count; at += 1)
      expect((await Promise.all(statuses.map(() => tried(place(at))))).toSorted()).toEqual(statuses);
    expect([await tried(neighbour), await tried(other)]).toEqual([429, 201]);
  });

  test("at most 5,000 unused clients are stored; a new one replaces the oldest, but none that is younger than ten minutes", async () => {
    await pool()`DELETE FROM oauth_client WHERE expires_at IS NOT NULL`;
    await pool()`
      INSERT INTO oauth_client (id, client_id, name, redirect_uris, token_endpoint_auth_method, grant_types, require_pkce, expires_at)
      SELECT 'flood' || n, 'flood' || n, 'x', '{}', 'none', '{}', true,
        clock_timestamp() + interval '24 hours' - CASE WHEN n = 1 THEN interval '11 minutes' ELSE interval '0' END
      FROM generate_series(1, 5000) n`;
    expect((await Promise.all([registered(), register({ redirect_uris: [loopback] })])).length).toBe(2);
    const [row] = await pool()<{ all: number; oldest: number }[]>`
      SELECT count(*)::int AS all, count(*) FILTER (WHERE client_id = 'flood1')::int AS oldest
      FROM oauth_client WHERE expires_at IS NOT NULL`;
    expect(row).toEqual({ all: 5_000, oldest: 0 });
    const { status, data } = await register({ redirect_uris: [loopback] });
    expect([status, data.error]).toEqual([429, "temporarily_unavailable"]);
    await pool()`DELETE FROM oauth_client WHERE id LIKE 'flood%'`;
  });
});

describe("the resource of a request", () => {
  test("the origin and one slash at the end count as /mcp, at both endpoints; others are refused", async () => {
    const owner = await newOrganization();
    const clientId = await registered();
    const { BASE_URL } = env();
    for (const resource of [BASE_URL, `${BASE_URL}/`, `${BASE_URL}/mcp`])
      expect([resource, (await authorize(asking(clientId, { resource }).query)).searchParams.has("error")]).toEqual([
        resource,
        false,
      ]);
    for (const resource of [`${BASE_URL}/`, `${BASE_URL}/mcp/`]) {
      const { query, verifier } = asking(clientId, { resource });
      const { status, data } = await decide(owner.credential, query);
      expect([resource, status]).toEqual([resource, 201]);
      const form = { ...tokenForm(clientId, codeOf(data.redirectTo), verifier), resource };
      const { data: tokens } = await takeTokens(form);
      const refresh = { grant_type: "refresh_token", client_id: clientId, refresh_token: tokens.refresh_token, resource };
      expect([resource, (await takeTokens(refresh)).status]).toEqual([resource, 200]);
    }
    for (const resource of [`${BASE_URL}/mcp//`, `${BASE_URL}/api`, `${BASE_URL}/mcp?x`, "https://other.example/"])
      expect([resource, (await authorize(asking(clientId, { resource }).query)).searchParams.get("error")]).toEqual([
        resource,
        "invalid_target",
      ]);
  });
});
