import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { weather } from "#lib/sandbox/samples.ts";
import { PASSWORD, newKey, newOrganization } from "#test/identity.ts";
import { activeMandate } from "#test/mandates.ts";
import { localChainId } from "../examples/chain.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";

const assets = [{ asset: "USDC", chain: localChainId }];
const policy = {
  assets,
  limits: { perPayment: "1", total: "5" },
  sellers: { unregistered: "allow" },
  approval: { mode: "always" },
};

type Shown = { readonly url: string; readonly message: string };

test("an MCP client opens the approval page, the person approves there, and the paid answer comes back", async ({
  page,
  context,
}) => {
  const owner = await newOrganization({ name: "Larkfield Research" });
  const agent = await newKey(owner);
  const mandateId = await activeMandate(owner.credential, { policy });
  await signInAs(context, owner.credential);
  const client = new Client(
    { name: "journey", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } }, capabilities: { elicitation: { url: {} } } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const { url, message } = params as unknown as Shown;
    expect(message).toContain(`${weather.amount} USDC to weather.example.com`);
    await page.goto(url);
    await expect(page.getByText("Today’s weather, for the picnic")).toBeVisible();
    await expectAccessible(page);
    await page.getByLabel("Your password").fill(PASSWORD);
    await page.getByRole("button", { name: /^Approve/ }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved. Waiting for the agent.");
    return { action: "accept" };
  });
  const mcp = new URL("/mcp", process.env["BASE_URL"]);
  await client.connect(new StreamableHTTPClientTransport(mcp, { requestInit: { headers: agent.credential } }));
  const args = { url: weather.url, mandateId, purpose: "Today’s weather, for the picnic" };
  const { structuredContent } = await client.callTool({ name: "fetch_paid", arguments: args });
  expect(structuredContent).toMatchObject({ status: "paid", answer: { status: 200, untrusted: true } });
  expect(JSON.stringify(structuredContent)).toContain("Sunny");
  // The page follows the payment to its end.
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Approved and paid.");
  await client.close();
});

test("the page about the MCP server is accessible, and the skill is served", async ({ page }) => {
  await page.goto("/docs/mcp");
  await expect(page.getByRole("heading", { level: 1, name: "MCP server" })).toBeVisible();
  await expectAccessible(page);
  const skill = await page.request.get("/SKILL.md");
  expect(skill.headers()["content-type"]).toBe("text/markdown; charset=utf-8");
  expect(await skill.text()).toContain("fetch_paid");
});
