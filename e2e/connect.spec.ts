import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { UnauthorizedError as OldUnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Page } from "@playwright/test";
import { database } from "#lib/db/client.ts";
import { insertClient } from "#lib/identity/oauth/client-store.ts";
import { sealedQuery } from "#lib/identity/oauth/connect-request.ts";
import { newMember, newOrganization, PASSWORD } from "#test/identity.ts";
import { writeMandate } from "./setup/purchase.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { hostileNames } from "./setup/scene.ts";
import { mcpAddress, memory, openCallback } from "./setup/program.ts";

const info = { name: "judge", version: "1" };

/**
 * Connects without tokens, so that the client itself finds out where to sign in. Returns the address for the sign-in, and a
 * function that finishes it.
 */
async function discover(clientId: string, redirectUrl: string, old: boolean) {
  const { kept, provider } = memory(redirectUrl, { clientId });
  const open = () =>
    old
      ? { client: new OldClient(info), transport: new OldTransport(mcpAddress(), { authProvider: provider }) }
      : {
          client: new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
          transport: new StreamableHTTPClientTransport(mcpAddress(), { authProvider: provider }),
        };
  const first = open();
  const refused: unknown = await first.client.connect(first.transport as never).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(old ? OldUnauthorizedError : UnauthorizedError);
  return {
    url: kept.url ?? new URL("about:blank"),
    /** Exchanges the code and lists the tools. */
    finish: async (answer: URL) => {
      const iss = answer.searchParams.get("iss");
      expect(iss).toBe(new URL("/api/auth", mcpAddress()).href);
      if (old) await (first.transport as OldTransport).finishAuth(answer.searchParams.get("code") ?? "");
      else await (first.transport as StreamableHTTPClientTransport).finishAuth(answer.searchParams);
      const again = open();
      await again.client.connect(again.transport);
      const { tools } = await (again.client as Client).listTools();
      return { names: tools.map(({ name }) => name), client: again.client as Client };
    },
  };
}

async function register(page: Page, name: string): Promise<string> {
  await page.goto("/settings/connect");
  await page.getByRole("button", { name: "Register a program" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Program").selectOption("Codex");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Register a program" }).click();
  await expect(dialog.getByLabel("Name")).toHaveValue("");
  await expect(dialog.getByLabel("Program")).toHaveValue("");
  await dialog.getByLabel("Program").selectOption("Codex");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Register" }).click();
  await expect(dialog).toHaveCount(0);
  return (
    (await page
      .getByRole("row", { name })
      .getByRole("button", { name: /copy client id/ })
      .getAttribute("title")) ?? ""
  );
}

test("MCP clients that an organization registered sign in, and one button ends a connection", async ({ page, context }) => {
  const owner = await newOrganization({ name: hostileNames.unbroken });
  await writeMandate(owner, "Research");
  await writeMandate(owner, "Travel");
  await signInAs(context, owner.credential);
  const clientId = await register(page, "Judge");
  const callback = await openCallback();
  try {
    const first = await discover(clientId, callback.redirectUrl, false);
    await page.goto(first.url.href);
    await expect(page.getByRole("heading", { name: `Connect Judge to ${hostileNames.unbroken}?` })).toBeVisible();
    await expect(page.getByText(new URL(callback.redirectUrl).host)).toBeVisible();
    await page.getByRole("radio", { name: /Only these/ }).check();
    await page.getByRole("checkbox", { name: "Research" }).check();
    await expectAccessible(page);
    await page.setViewportSize({ width: 320, height: 800 });
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByText("Go back to the program.")).toBeVisible();
    const judge = await first.finish(callback.answers[0]!);
    expect(judge.names).toContain("get_budget");
    const budget = await judge.client.callTool({ name: "get_budget", arguments: {} });
    expect(JSON.stringify(budget)).toContain("Research");
    expect(JSON.stringify(budget)).not.toContain("Travel");

    const second = await discover(clientId, callback.redirectUrl, true);
    await page.goto(second.url.href);
    await page.getByRole("radio", { name: /that exists/ }).check();
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByText("Go back to the program.")).toBeVisible();
    const elder = await second.finish(callback.answers[1]!);
    expect(elder.names).toEqual(judge.names);

    await page.goto("/settings/connect");
    await expectAccessible(page);
    const rows = page.getByRole("table", { name: "Connected programs" }).getByRole("row", { name: /Judge/ });
    await expect(rows).toHaveCount(2);
    await rows.last().getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: "End connection" }).click();
    await expect(rows).toHaveCount(1);
    await expect(judge.client.listTools()).rejects.toThrow();
    expect((await elder.client.listTools()).tools.length).toBeGreaterThan(0);
    await Promise.all([judge.client.close(), elder.client.close()]);

    const third = await discover(clientId, callback.redirectUrl, false);
    await page.goto(third.url.href);
    await page.getByRole("link", { name: "Do not connect" }).click();
    await expect(page.getByText("Go back to the program.")).toBeVisible();
    expect(callback.answers[2]?.searchParams.get("error")).toBe("access_denied");
  } finally {
    callback.close();
  }
});

test("a person signs in first and returns to the request; a person who may not connect programs reads whom to ask", async ({
  page,
}) => {
  const owner = await newOrganization();
  const approver = await newMember(owner, "approver");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "countersign-cli",
    redirect_uri: "http://127.0.0.1:9/callback",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  await page.goto(`/api/auth/oauth2/authorize?${query}`);
  await page.getByLabel("E-mail").fill(approver.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByText("Your role in Acme may not connect programs.")).toBeVisible();
  await expect(page.getByRole("link", { name: "Back to a program on this device, at 127.0.0.1:9" })).toBeVisible();
  await page.context().clearCookies();
  query.set("scope", "everything");
  await page.goto(`/api/auth/oauth2/authorize?${query}`);
  await expect(page.getByText("Nothing was sent to the program.")).toBeVisible();
  await expectAccessible(page);
  await signInAs(page.context(), approver.credential);
  await page.goto("/connect?client_id=countersign-cli&redirect_uri=https%3A%2F%2Fevil.example&code_challenge=x");
  await expect(page.getByText("The request of the program is not valid.")).toBeVisible();
  expect(await page.content()).not.toContain('evil.example"');
});

test("a program with a metadata document is shown as not verified, with the whole address of the document and where codes go", async ({
  page,
}) => {
  const owner = await newOrganization();
  const approver = await newMember(owner, "approver");
  const clientId = `https://agents.example/${crypto.randomUUID()}/${"a-long-path/".repeat(30)}client.json`;
  const redirectUri = `https://${"codes.".repeat(30)}example/callback`;
  const row = { organizationId: null, name: "Countersign", redirectUris: [redirectUri], createdBy: null, createdAt: new Date() };
  await database().transaction((tx) => insertClient(tx, { clientId, ...row }));
  const asked = { client_id: clientId, redirect_uri: redirectUri, code_challenge: "x", code_challenge_method: "S256" };
  const path = `/connect?${sealedQuery(new URLSearchParams(asked))}`;
  await page.setViewportSize({ width: 320, height: 800 });
  await signInAs(page.context(), owner.credential);
  await page.goto(path);
  await expect(page.getByText(`Not verified. Described by the document at ${clientId}`)).toBeVisible();
  await expect(page.getByText("This program is not verified: anybody can use this name.")).toBeVisible();
  await expectAccessible(page);
  await page.context().clearCookies();
  await signInAs(page.context(), approver.credential);
  await page.goto(path);
  await expect(page.getByRole("link", { name: `Back to the site ${new URL(redirectUri).host}` })).toBeVisible();
  await expectAccessible(page);
});
