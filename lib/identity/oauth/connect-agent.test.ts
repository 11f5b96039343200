import { and, eq, like } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import { oauthAccessToken, oauthClient } from "#lib/identity/oauth-tables.ts";
import { serviceAccounts, session } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization } from "#test/identity.ts";
import { asking, authorize, codeOf, connected, decide, registerClient, REDIRECT, takeTokens, tokenForm } from "#test/oauth.ts";

useDatabase();

const agentOf = (token: string) =>
  authenticateAgent(new Request(`${env().BASE_URL}/mcp`, { headers: { authorization: `Bearer ${token}` } }));

describe("connectAgent", () => {
  test("a client gets tokens for a new service account, with the capabilities that the person allowed", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const { query, verifier } = asking(clientId);
    const page = await authorize(query);
    expect([page.origin, page.pathname]).toEqual([env().BASE_URL, "/connect"]);
    const { status, data } = await decide(owner.credential, page.search.slice(1), { capabilities: ["payments:read"] });
    expect(status).toBe(201);
    const back = new URL(data.redirectTo);
    expect(back.origin + back.pathname).toBe(REDIRECT);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: "state of the client",
      iss: `${env().BASE_URL}/api/auth`,
    });
    const { data: tokens } = await takeTokens(tokenForm(clientId, codeOf(data.redirectTo), verifier));
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^cso_/),
      refresh_token: expect.stringMatching(/^csr_/),
      token_type: "Bearer",
      expires_in: 3600,
      scope: "payments:read offline_access",
    });
    const caller = await agentOf(tokens.access_token);
    expect(caller).toMatchObject({ kind: "key", serviceAccountId: data.serviceAccountId, organizationId: owner.organizationId });
    expect([...caller.capabilities]).toEqual(["payments:read"]);
    const events = await database()
      .select({
        type: auditEvents.type,
        actorId: auditEvents.actorId,
        metadata: auditEvents.metadata,
        commitments: auditEvents.commitments,
      })
      .from(auditEvents)
      .where(and(eq(auditEvents.entityId, data.serviceAccountId), like(auditEvents.type, "serviceAccount.%")));
    expect(events.map(({ type }) => type)).toEqual(["serviceAccount.created", "serviceAccount.connected"]);
    expect(events[1]).toMatchObject({ actorId: owner.userId, metadata: { clientId, codesGoTo: "127.0.0.1:7777" } });
    expect(events[1]?.commitments).toHaveProperty("clientName");
    const stored = JSON.stringify(await database().select().from(oauthAccessToken));
    expect(stored).not.toContain(tokens.access_token.slice(4));
  });

  test("nothing is connected if another organization became active after the person saw the page", async () => {
    const [owner, other] = [await newOrganization(), await newOrganization()];
    const { query } = asking("countersign-cli");
    const { status, problem } = await decide(owner.credential, query, { organizationId: other.organizationId });
    expect([status, problem.code]).toEqual([404, "not_found"]);
    expect((await decide(owner.credential, query, { organizationId: owner.organizationId })).status).toBe(201);
  });

  test("an account that exists limits what the client gets, and an account of another organization is not found", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const { serviceAccountId } = await newKey(owner, ["payments:read", "mandates:read"]);
    const capabilities = ["payments:authorize", "payments:read"];
    const { access_token } = await connected(owner.credential, clientId, { serviceAccountId, capabilities });
    expect([...(await agentOf(access_token)).capabilities]).toEqual(["payments:read"]);
    const stranger = await newKey(await newOrganization());
    const other = { serviceAccountId: stranger.serviceAccountId };
    expect((await decide(owner.credential, asking(clientId).query, other)).problem.code).toBe("not_found");
  });

  test("400 for a capability that the client did not ask for, or that only a person may have", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const beyond = await decide(owner.credential, asking(clientId).query, { capabilities: ["payments:read", "audit:read"] });
    expect([beyond.status, beyond.problem.errors]).toMatchObject([400, [{ pointer: "/capabilities/1" }]]);
    for (const scope of ["checkouts:approve", "mandates:manage", "members:manage", "serviceAccounts:manage", "openid"]) {
      const page = await authorize(asking(clientId, { scope }).query);
      expect([scope, page.pathname, page.search]).toEqual([scope, "/connect", "?error=invalid_scope"]);
    }
  });

  test("a developer can allow only capabilities that they have; an approver or an old session can allow none", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const developer = await newMember(owner, "developer");
    const asked = (capability: string) => ({ capabilities: [capability] });
    expect((await decide(developer.credential, asking(clientId).query, asked("payments:read"))).status).toBe(201);
    const beyond = await decide(developer.credential, asking(clientId).query, asked("payments:authorize"));
    expect(beyond.problem.code).toBe("capability_required");
    const approver = await newMember(owner, "approver");
    expect((await decide(approver.credential, asking(clientId).query)).problem.code).toBe("capability_required");
    const old = new Date(Date.now() - 3_600_000);
    await database().update(session).set({ provedAt: old, createdAt: old }).where(eq(session.userId, owner.userId));
    expect((await decide(owner.credential, asking(clientId).query)).problem.code).toBe("step_up_required");
  });

  test("404 for a client of another organization; nothing is written", async () => {
    const [owner, stranger] = [await newOrganization(), await newOrganization()];
    const clientId = await registerClient(stranger.credential);
    const { problem } = await decide(owner.credential, asking(clientId).query);
    expect(problem.code).toBe("not_found");
    const made = await database().select().from(serviceAccounts).where(eq(serviceAccounts.organizationId, owner.organizationId));
    expect(made).toEqual([]);
  });

  test("a retry gets a 409 without a code", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const { query } = asking(clientId);
    const first = await decide(owner.credential, query, {}, "decision-1");
    const again = await decide(owner.credential, query, {}, "decision-1");
    expect([again.status, again.problem.code]).toEqual([409, "conflict"]);
    expect(JSON.stringify(again.problem)).not.toContain(codeOf(first.data.redirectTo));
  });

  test("an invalid request redirects to a page of this service, never to a URL that is not registered", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential, ["https://agent.example/callback", "http://127.0.0.1/callback"]);
    const wrong = [
      { redirect_uri: "https://evil.example/callback" },
      { redirect_uri: "https://agent.example/callback/more" },
      { redirect_uri: "http://127.0.0.1:9/other" },
      { redirect_uri: `${env().BASE_URL}/connect` },
      { redirect_uri: "" },
      { client_id: "cli_unknown" },
    ];
    for (const changes of wrong) {
      const { query } = asking(clientId, changes);
      const page = await authorize(query);
      expect([changes, page.origin, page.pathname, page.searchParams.has("error")]).toEqual([
        changes,
        env().BASE_URL,
        "/connect",
        true,
      ]);
      expect([changes, (await decide(owner.credential, query)).status]).toEqual([changes, 400]);
    }
  });

  test("an address with a scheme that is not allowed gets no code, even if it was registered before", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    await database()
      .update(oauthClient)
      .set({ redirectUris: ["ms-msdt:/id", "com.example.app:/callback"] })
      .where(eq(oauthClient.clientId, clientId));
    const { query } = asking(clientId, { redirect_uri: "ms-msdt:/id" });
    expect((await authorize(query)).href).toBe(`${env().BASE_URL}/connect?error=invalid_redirect`);
    expect((await decide(owner.credential, query)).status).toBe(400);
    const own = asking(clientId, { redirect_uri: "com.example.app:/callback" });
    expect((await decide(owner.credential, own.query)).data.redirectTo).toMatch(/^com\.example\.app:\/callback\?code=/);
  });

  test("an error is shown on a page of this service and never sent to the client's address, which anybody can register", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const wrong = [
      [{ code_challenge: "" }, "invalid_request"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ resource: "https://other.example/mcp" }, "invalid_target"],
      [{ prompt: "none" }, "login_required"],
      [{ response_type: "token" }, "invalid_request"],
    ] as const;
    for (const [changes, error] of wrong) {
      const { query } = asking(clientId, changes);
      const page = await authorize(query);
      expect([changes, page.href]).toEqual([changes, `${env().BASE_URL}/connect?error=${error}`]);
      expect((await decide(owner.credential, query)).status).toBe(400);
    }
  });
});
