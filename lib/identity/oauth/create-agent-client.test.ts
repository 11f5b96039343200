import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { createAgentClient as handler } from "#lib/identity/oauth/create-agent-client.ts";
import { session } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const create = (as: Credential, redirectUris: readonly string[], key?: string) =>
  send(contract.createAgentClient, handler, {
    body: { name: "Editor", redirectUris },
    as,
    ...(key !== undefined && { key }),
  });

describe("createAgentClient", () => {
  test("registers https, loopback and a program's own scheme, once per idempotency key, with an audit event", async () => {
    const owner = await newOrganization();
    const apps = ["cursor://anysphere.cursor-mcp/oauth/callback", "vscode://publisher.extension", "com.example.app:/callback"];
    const redirectUris = ["https://agent.example/cb", "http://[::1]:33418/", ...apps];
    const first = await create(owner.credential, redirectUris, "once");
    const again = await create(owner.credential, redirectUris, "once");
    expect([first.status, first.data.redirectUris]).toEqual([201, redirectUris]);
    expect(again.data).toEqual(first.data);
    const events = await database().select().from(auditEvents).where(eq(auditEvents.entityId, first.data.clientId));
    expect(events).toMatchObject([{ type: "agentClient.created", actorId: owner.userId, metadata: { redirectUris } }]);
  });

  test("400 names the redirect URI to which codes cannot be sent", async () => {
    const owner = await newOrganization();
    const bad = [
      "http://agent.example/cb",
      "javascript:alert(1)",
      "data:text/html,x",
      "https://agent.example/cb#part",
      "https://user@agent.example/cb",
      "https://*.agent.example/cb",
      "not an address",
      "ms-msdt:/id PCWDiagnostic",
      "ms-msdt:/id",
      "ms-officecmd:x",
      "search-ms:query=x",
      "smb://host/share",
      "intent://scan/#Intent;end",
      "intent:x",
      "vscodex://host",
      "x-apple.systempreferences:com.apple",
      `${env().BASE_URL}/connect`,
    ];
    for (const uri of bad) {
      const { status, problem } = await create(owner.credential, ["https://agent.example/cb", uri]);
      expect([uri, status, problem.errors?.[0]?.pointer]).toEqual([uri, 400, "/redirectUris/1"]);
    }
  });

  test("403 without the right, and 428 without a fresh proof", async () => {
    const owner = await newOrganization();
    const viewer = await newMember(owner, "viewer");
    expect((await create(viewer.credential, ["https://agent.example/cb"])).problem.code).toBe("capability_required");
    await database()
      .update(session)
      .set({ provedAt: new Date(Date.now() - 3_600_000) })
      .where(eq(session.userId, owner.userId));
    expect((await create(owner.credential, ["https://agent.example/cb"])).problem.code).toBe("step_up_required");
  });

  test("409 for the 51st client", async () => {
    const owner = await newOrganization();
    for (let made = 0; made < 50; made += 1)
      expect((await create(owner.credential, ["https://agent.example/cb"])).status).toBe(201);
    expect((await create(owner.credential, ["https://agent.example/cb"])).problem.code).toBe("conflict");
  });
});
