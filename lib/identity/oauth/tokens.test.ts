import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { callerIsLive } from "#lib/holds/execution-store.ts";
import * as members from "#lib/identity/members/contract.ts";
import { updateMember } from "#lib/identity/members/update-member.ts";
import { authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import { oauthAccessToken } from "#lib/identity/oauth-tables.ts";
import { apiKeys, member, serviceAccounts, session, user } from "#lib/identity/tables.ts";
import { authorizeBatch } from "#lib/payments/authorize-batch.ts";
import { isProblem } from "#lib/problem.ts";
import { inShort, itemOf } from "#test/batches.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization } from "#test/identity.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { asking, codeOf, connected, decide, program, registerClient, takeTokens, tokenForm } from "#test/oauth.ts";
import { createPerson, send } from "#test/tenant.ts";

useDatabase();

const agentOf = (token: string) =>
  authenticateAgent(new Request(`${env().BASE_URL}/mcp`, { headers: { authorization: `Bearer ${token}` } }));

/** Returns the code of the problem if the token is refused, or null if it is accepted. */
const refusalOf = async (token: string): Promise<string | null> =>
  agentOf(token).then(
    () => null,
    (error: unknown) => {
      if (isProblem(error)) return error.code;
      throw error;
    },
  );

describe("codes and tokens", () => {
  test("a code works once, for its client, redirect URI and verifier; a second use revokes its tokens", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const other = await registerClient(owner.credential);
    const { query, verifier } = asking(clientId);
    const code = async () => codeOf((await decide(owner.credential, query)).data.redirectTo);
    expect((await takeTokens(tokenForm(clientId, await code(), "x".repeat(43)))).status).toBe(401);
    expect((await takeTokens(tokenForm(clientId, await code(), ""))).status).toBe(400);
    expect((await takeTokens(tokenForm(other, await code(), verifier))).data.error).toBe("invalid_grant");
    expect((await takeTokens(tokenForm(clientId, await code(), verifier, "http://127.0.0.1:8/callback"))).status).toBe(400);
    const right = tokenForm(clientId, await code(), verifier);
    const elsewhere = await takeTokens({ ...right, resource: "https://other.example/mcp" });
    expect(elsewhere.data.error).toBe("invalid_target");
    const used = tokenForm(clientId, await code(), verifier);
    const { data: tokens } = await takeTokens(used);
    expect(await refusalOf(tokens.access_token)).toBeNull();
    expect((await takeTokens(used)).data.error).toBe("invalid_grant");
    expect(await refusalOf(tokens.access_token)).toBe("api_key_invalid");
  });

  test("a code or refresh token that is used many times at once gives one answer with tokens at most, and each answer is JSON", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const atOnce = async (form: Readonly<Record<string, string>>) => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => takeTokens(form)));
      expect(answers.filter(({ data }) => data.access_token !== undefined).length).toBeLessThanOrEqual(1);
      const refusals = answers.flatMap(({ data }) => data.error ?? []);
      expect(refusals.filter((error) => !["invalid_grant", "server_error"].includes(error))).toEqual([]);
      expect(refusals.length).toBeGreaterThan(10);
    };
    for (const client of [clientId, "countersign-cli", clientId, "countersign-cli"]) {
      const { query, verifier } = asking(client);
      const { data } = await decide(owner.credential, query);
      await atOnce(tokenForm(client, codeOf(data.redirectTo), verifier));
      const { refresh_token } = await connected(owner.credential, clientId);
      await atOnce({ grant_type: "refresh_token", client_id: clientId, refresh_token });
    }
  });

  test("a refresh token works once; a second use revokes the tokens that it was exchanged for", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const first = await connected(owner.credential, clientId);
    const refresh = (refresh_token: string) => takeTokens({ grant_type: "refresh_token", client_id: clientId, refresh_token });
    const { data: second } = await refresh(first.refresh_token);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(await refusalOf(second.access_token)).toBeNull();
    expect((await refresh(first.refresh_token)).data.error).toBe("invalid_grant");
    expect(await refusalOf(second.access_token)).toBe("api_key_invalid");
    expect((await refresh(second.refresh_token)).data.error).toBe("invalid_grant");
  });

  test("a token for another audience is refused, and an access token is not accepted as an API key", async () => {
    const owner = await newOrganization();
    const { access_token } = await connected(owner.credential, await registerClient(owner.credential));
    const answer = await program("/api/v1/payments", undefined, { authorization: `Bearer ${access_token}` });
    expect(answer.status).toBe(401);
    await database()
      .update(oauthAccessToken)
      .set({ resources: ["https://other.example/mcp"] });
    expect(await refusalOf(access_token)).toBe("api_key_invalid");
  });

  test("a session and an expired token are refused", async () => {
    const owner = await newOrganization();
    const { access_token } = await connected(owner.credential, await registerClient(owner.credential));
    const cookie = authenticateAgent(new Request(`${env().BASE_URL}/mcp`, { headers: owner.credential }));
    await expect(cookie).rejects.toMatchObject({ code: "unauthenticated" });
    await database()
      .update(oauthAccessToken)
      .set({ expiresAt: new Date(Date.now() - 1_000) });
    expect(await refusalOf(access_token)).toBe("api_key_invalid");
  });

  test("a connection stays valid when the session ends, and ends when the person is banned", async () => {
    const owner = await newOrganization();
    const { access_token } = await connected(owner.credential, await registerClient(owner.credential));
    await database().delete(session).where(eq(session.userId, owner.userId));
    expect(await refusalOf(access_token)).toBeNull();
    await database().update(user).set({ banned: true }).where(eq(user.id, owner.userId));
    expect(await refusalOf(access_token)).toBe("api_key_invalid");
  });

  test("a paused account can only read; revoking the account ends the connection and its refresh token", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const capabilities = ["payments:authorize", "payments:read"];
    const { access_token, refresh_token, serviceAccountId } = await connected(owner.credential, clientId, { capabilities });
    const account = eq(serviceAccounts.serviceAccountId, serviceAccountId);
    await database().update(serviceAccounts).set({ pausedAt: new Date() }).where(account);
    const paused = await agentOf(access_token);
    expect([paused.paused, [...paused.capabilities]]).toEqual([true, ["payments:read"]]);
    await database().update(serviceAccounts).set({ revokedAt: new Date() }).where(account);
    expect(await refusalOf(access_token)).toBe("api_key_invalid");
    const refreshed = await takeTokens({ grant_type: "refresh_token", client_id: clientId, refresh_token });
    expect([refreshed.status, refreshed.data.error]).toEqual([400, "invalid_grant"]);
  });

  test("a waiting payment of an OAuth client is refused once the person who allowed it loses the capability or is banned", async () => {
    const buyer = await createBuyer();
    const admin = await createPerson(buyer.organizationId, "admin");
    const mandateId = await activeMandate(buyer.person.credential);
    const capabilities = ["payments:authorize", "payments:execute"];
    const clientId = await registerClient(admin.credential);
    const token = await connected(admin.credential, clientId, { capabilities }, { scope: capabilities.join(" ") });
    // The caller is read before the role changes, as in a request that waits while somebody changes the role.
    const caller = await agentOf(token.access_token);
    const told = async () => {
      const asker = { kind: "key", subjectId: caller.subjectId, keyId: caller.keyId } as const;
      const [answer] = await authorizeBatch([{ ...itemOf(buyer, mandateId), asker }]);
      return [inShort(answer!), await database().transaction((tx) => callerIsLive(tx, caller))];
    };
    const setRole = (role: string) => database().update(member).set({ role }).where(eq(member.userId, admin.userId));
    expect(await told()).toEqual(["allow", true]);
    await setRole("approver");
    expect(await told()).toEqual(["capability_required", false]);
    await setRole("admin");
    await database().update(user).set({ banned: true }).where(eq(user.id, admin.userId));
    expect(await told()).toEqual(["api_key_invalid", false]);
    await database().update(user).set({ banned: false }).where(eq(user.id, admin.userId));
    expect(await told()).toEqual(["allow", true]);
    await database().delete(member).where(eq(member.userId, admin.userId));
    expect(await told()).toEqual(["api_key_invalid", false]);
  });

  test("a client can revoke its tokens", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    const { access_token } = await connected(owner.credential, clientId);
    const answer = await program("/api/auth/oauth2/revoke", { client_id: clientId, token: access_token });
    expect(answer.status).toBe(200);
    expect(await refusalOf(access_token)).toBe("api_key_invalid");
  });

  test("other grant types, other content types and unregistered clients are refused", async () => {
    const owner = await newOrganization();
    const clientId = await registerClient(owner.credential);
    expect((await takeTokens({ grant_type: "client_credentials", client_id: clientId })).data.error).toBe(
      "unsupported_grant_type",
    );
    expect((await program("/api/auth/oauth2/introspect", { token: "x" })).status).toBe(404);
    const json = { "content-type": "application/json" };
    expect((await program("/api/auth/oauth2/token", { grant_type: "authorization_code" }, json)).status).toBe(400);
  });

  test("the number of requests of one network address to the token endpoint is limited", async () => {
    const form = { grant_type: "authorization_code", client_id: "countersign-cli", code: "wrong", code_verifier: "wrong" };
    const answers = [];
    for (let tried = 0; tried < 61; tried += 1) answers.push(await program("/api/auth/oauth2/token", form, {}, "192.0.2.77"));
    const statuses = answers.map(({ status }) => status);
    expect([statuses.slice(0, 60).every((status) => status === 400), statuses[60]]).toEqual([true, 429]);
    expect(answers[60]?.headers.get("retry-after")).not.toBeNull();
  });
});

describe("countersign-cli", () => {
  test("exchanges its code once for an API key of the service account, and gets no token and no session", async () => {
    const owner = await newOrganization();
    const { query, verifier } = asking("countersign-cli", { resource: "", redirect_uri: "http://localhost:45678/callback" });
    const { data } = await decide(owner.credential, query, { capabilities: ["payments:read"] });
    const form = tokenForm("countersign-cli", codeOf(data.redirectTo), verifier, "http://localhost:45678/callback");
    const { data: given } = await takeTokens(form);
    expect(given).toEqual({
      access_token: expect.stringMatching(/^csk_sandbox_/),
      token_type: "Bearer",
      scope: "payments:read",
      service_account_id: data.serviceAccountId,
      organization_id: owner.organizationId,
    });
    const headers = { authorization: `Bearer ${given.access_token}` };
    expect((await program("/api/v1/payments", undefined, headers)).status).toBe(200);
    expect((await program("/api/v1/auth/session", undefined, headers)).status).toBe(403);
    expect([...(await agentOf(given.access_token)).capabilities]).toEqual(["payments:read"]);
    expect((await takeTokens(form)).data.error).toBe("invalid_grant");
    expect((await program("/api/v1/payments", undefined, headers)).status).toBe(200);
    const [row] = await database().select().from(apiKeys).where(eq(apiKeys.keyId, data.connectionId));
    expect(row).toMatchObject({ createdBy: owner.userId, clientId: "countersign-cli" });
    expect(await database().select().from(oauthAccessToken).where(eq(oauthAccessToken.referenceId, data.connectionId))).toEqual(
      [],
    );
  });

  test("gets no key if the person lost one of its capabilities after the decision", async () => {
    const owner = await newOrganization();
    const admin = await newMember(owner, "admin");
    const { query, verifier } = asking("countersign-cli", { resource: "" });
    const { data } = await decide(admin.credential, query, { capabilities: ["payments:authorize"] });
    const [id, body] = [[owner.organizationId, admin.userId], { role: "viewer", keys: "keep" }];
    expect((await send(members.updateMember, updateMember, { id, body, as: owner.credential })).status).toBe(200);
    const refused = await takeTokens(tokenForm("countersign-cli", codeOf(data.redirectTo), verifier));
    expect([refused.status, refused.data.error]).toEqual([400, "invalid_grant"]);
    const [row] = await database().select().from(apiKeys).where(eq(apiKeys.keyId, data.connectionId));
    expect(row?.secretHash).toBe("");
  });
});
