import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import type { Page } from "@playwright/test";
import { UnauthorizedError as OldUnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { newOrganization, PASSWORD, type Owner } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { mcpAddress, memory, openCallback } from "./setup/program.ts";
import { openRegisteredStall, type RegisteredStall } from "./setup/registered-stall.ts";

const paidAnswer = JSON.stringify({ report: "all is well" });

let owner: Owner;
let stall: RegisteredStall;
test.beforeAll(async () => {
  owner = await newOrganization({ name: "Larkfield Research" });
  stall = await openRegisteredStall(owner, "Daily reports");
});
test.afterAll(() => stall.seller.close());

async function approve(page: Page, url: string, said: string | RegExp = "Approved. Waiting for the agent."): Promise<void> {
  await page.goto(url);
  const button = page.getByRole("button", { name: /^Approve/ });
  await expect(button).toBeVisible();
  // In these tests only the first payment to the seller needs the password.
  const password = page.getByLabel("Your password");
  if (await password.isVisible()) await password.fill(PASSWORD);
  await button.click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(said);
}

/** A client that knows only an address. `asked` lists its requests, also those to addresses that it finds by itself. */
function program(redirectUrl: string, page: Page) {
  const asked: string[] = [];
  const { kept, provider } = memory(redirectUrl, { name: "Research agent" });
  const open = () => {
    const client = new Client(
      { name: "journey", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } }, capabilities: { elicitation: { url: {} } } },
    );
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const { url, message } = params as unknown as { readonly url: string; readonly message: string };
      expect(message).toContain(`0.25 USDC to ${new URL(stall.reportUrl).host}`);
      await page.goto(url);
      await expect(page.getByText("The report of today")).toBeVisible();
      await expectAccessible(page);
      await approve(page, url);
      return { action: "accept" };
    });
    const transport = new StreamableHTTPClientTransport(mcpAddress(), {
      authProvider: provider,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        asked.push(`${init?.method ?? "GET"} ${new URL(url).pathname} ${response.status}`);
        return response;
      },
    });
    return { client, transport };
  };
  return { asked, kept, open };
}

test("a program that knows only the address signs in, gets a paid answer after a person approved it, and is refused after its connection ended", async ({
  page,
}) => {
  const callback = await openCallback();
  try {
    const { asked, kept, open } = program(callback.redirectUrl, page);
    const first = open();
    await expect(first.client.connect(first.transport)).rejects.toThrow(UnauthorizedError);
    expect([asked[0], ...new Set(asked.slice(1).filter((line) => / 20[01]$/.test(line)))]).toEqual([
      "POST /mcp 401",
      "GET /.well-known/oauth-protected-resource/mcp 200",
      "GET /.well-known/oauth-authorization-server/api/auth 200",
      "POST /api/auth/oauth2/register 201",
    ]);

    await page.goto(kept.url?.href ?? "");
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Connect Research agent to Larkfield Research?" })).toBeVisible();
    await expect(page.getByText("This program is not verified")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByText("Go back to the program.")).toBeVisible();
    await first.transport.finishAuth(callback.answers[0]!.searchParams);

    const { client, transport } = open();
    await client.connect(transport);
    const purchase = { url: stall.reportUrl, mandateId: stall.mandateId, purpose: "The report of today" };
    const { structuredContent } = await client.callTool({ name: "fetch_paid", arguments: purchase });
    expect(structuredContent).toMatchObject({ status: "paid", answer: { status: 200, text: paidAnswer, untrusted: true } });
    expect(stall.seller.served()).toBe(1);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved and paid.");

    await page.goto("/settings/connect");
    const row = page.getByRole("table", { name: "Connected programs" }).getByRole("row", { name: /Research agent/ });
    await row.getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: "End connection" }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(row).toHaveCount(0);
    const { access_token, refresh_token } = kept.tokens!;
    const accept = "application/json, text/event-stream";
    const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json", accept };
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const refused = await fetch(mcpAddress(), { method: "POST", headers, body: ping });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("invalid_token")]);
    const body = new URLSearchParams({ grant_type: "refresh_token", client_id: kept.client?.client_id ?? "", refresh_token });
    const renewed = await fetch(new URL("/api/auth/oauth2/token", mcpAddress()), { method: "POST", body });
    expect([renewed.status, await renewed.json()]).toMatchObject([400, { error: "invalid_grant" }]);
    await expect(client.callTool({ name: "get_budget", arguments: {} })).rejects.toThrow("session not found");
    await client.close();
  } finally {
    callback.close();
  }
});

test("a client of 2025 that knows only the address signs in, and gets a paid answer after a person approved it", async ({
  page,
  context,
}) => {
  await signInAs(context, owner.credential);
  const callback = await openCallback();
  try {
    const { kept, provider } = memory(callback.redirectUrl, { name: "Elder agent" });
    const open = () => ({
      client: new OldClient({ name: "journey", version: "1" }),
      transport: new OldTransport(mcpAddress(), { authProvider: provider }),
    });
    const first = open();
    // The transport's own type allows `undefined` where the client's type does not.
    await expect(first.client.connect(first.transport as never)).rejects.toThrow(OldUnauthorizedError);
    await page.goto(kept.url?.href ?? "");
    await expect(page.getByRole("heading", { name: "Connect Elder agent to Larkfield Research?" })).toBeVisible();
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByText("Go back to the program.")).toBeVisible();
    await first.transport.finishAuth(callback.answers[0]?.searchParams.get("code") ?? "");

    const { client, transport } = open();
    await client.connect(transport);
    const before = stall.seller.served();
    const purchase = { url: stall.reportUrl, mandateId: stall.mandateId, purpose: "The report of an elder" };
    const asked = await client.callTool({ name: "fetch_paid", arguments: purchase });
    const { status, approvalUrl } = asked.structuredContent as { readonly status: string; readonly approvalUrl: string };
    expect(status).toBe("approvalRequired");
    await approve(page, approvalUrl);
    const paid = await client.callTool({ name: "fetch_paid", arguments: purchase });
    expect(paid.structuredContent).toMatchObject({ status: "paid", answer: { status: 200, text: paidAnswer } });
    expect(stall.seller.served()).toBe(before + 1);
    await client.close();
  } finally {
    callback.close();
  }
});

test("the command line signs in at the consent page, and its payment is approved there too", async ({ page, context }) => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-cli-"));
  const file = join(folder, "config.json");
  /** Starts a command. `told` waits until the command writes an address to its standard error. */
  const start = (...line: string[]) => {
    const env = { ...process.env, COUNTERSIGN_CONFIG: file, COUNTERSIGN_URL: "", COUNTERSIGN_API_KEY: "", NODE_OPTIONS: "" };
    const child = spawn(process.execPath, ["sdk/src/cli.ts", ...line, "--json"], { env, stdio: ["ignore", "pipe", "pipe"] });
    let heard = "";
    child.stderr.on("data", (said: Buffer) => (heard += said.toString()));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return {
      child,
      said: Promise.all([text(child.stdout), ended]).then(([json, code]) => ({ code, ...(JSON.parse(json) as object) })),
      told: async (): Promise<string> => {
        await expect.poll(() => heard).toMatch(/https?:\S+\s/);
        return /https?:\S+/.exec(heard)![0];
      },
    };
  };
  const started: ReturnType<typeof start>[] = [];
  const run = (...line: string[]) => (started.push(start(...line)), started.at(-1)!);
  try {
    await signInAs(context, owner.credential);
    const login = run("login", mcpAddress().origin);
    await page.goto(await login.told());
    await expect(page.getByText("It gets an API key of the service account")).toBeVisible();
    await page.getByRole("button", { name: "Connect" }).click();
    await expect(page.getByText("You are signed in. Close this page.")).toBeVisible();
    expect(await login.said).toMatchObject({ code: 0, organizationId: owner.organizationId, file });
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ mandateId: stall.mandateId });

    const before = stall.seller.served();
    const pay = run("pay", stall.reportUrl, "--operation", "from the shell");
    // The command waits for the approval too, so it may have paid before the heading is read.
    await approve(page, await pay.told(), /^Approved(\. Waiting for the agent|\. The agent continues| and paid)\.$/);
    expect(await pay.said).toEqual({ code: 0, status: 200, body: paidAnswer });
    expect(stall.seller.served()).toBe(before + 1);
  } finally {
    for (const { child } of started) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
});

test("the page about the MCP server is accessible, and the skill is served", async ({ page }) => {
  await page.goto("/docs/mcp");
  await expect(page.getByRole("heading", { level: 1, name: "MCP server" })).toBeVisible();
  await expectAccessible(page);
  const skill = await page.request.get("/SKILL.md");
  expect(skill.headers()["content-type"]).toBe("text/markdown; charset=utf-8");
  expect(await skill.text()).toContain("fetch_paid");
});
