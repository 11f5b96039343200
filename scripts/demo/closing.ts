import { join, resolve } from "node:path";
import { home } from "#lib/process.ts";
import type { Parties } from "./setup.ts";
import { writeMandate } from "./setup.ts";
import type { Stage } from "./stage.ts";
import { plain, section, step } from "./timeline.ts";

const HOURS = 12;

/** A call of the tool fetch_paid, in JSON-RPC. */
const calling = (url: string, { mandateId }: { readonly mandateId: string }) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "fetch_paid", arguments: { url, mandateId, purchaseId: "my-third-purchase" } },
});

/** Creates a new mandate for experiments, and prints the keys and example calls. */
export async function invite(
  { service, shop, agent, keyFile }: Stage,
  { buyer, sellerOwner, sellerId, agentId, apiKey }: Parties,
  { confirmationUrl, keyless }: { readonly confirmationUrl: string; readonly keyless: { readonly mandateId: string } },
): Promise<void> {
  section("Continue by yourself");
  const { mandateId } = await step("Ada writes another mandate, for the requests that you send", () =>
    writeMandate(buyer, agentId, agent.address, "allow"),
  );
  const intent = {
    intentId: "yours-1",
    nonce: "yours-1",
    idempotencyKey: `yours-1-${mandateId}`,
    seller: { sellerId },
    resource: { resourceId: "report" },
    amount: "0.25",
    asset: "USDC",
    expiresAt: new Date(Date.now() + HOURS * 3_600_000).toISOString(),
  };
  const asked = `curl -sS -w "\\n" $API/api/v1/payments/authorize -H "$KEY" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ mandateId, intent }).replace(',"intent"', ',\n      "intent"').replace(',"amount"', ',\n      "amount"')}'`;
  plain();
  plain("Credentials, which work only here:");
  plain(`    Ada signs in as   ${buyer.email}`);
  plain(`    with password     ${buyer.password}`);
  plain(`    Sam signs in as   ${sellerOwner.email}`);
  plain(`    with password     ${sellerOwner.password}`);
  plain(`    agent's wallet    ${agent.address}, key in ${keyFile}`);
  plain();
  plain("To see what Ada was asked and how she decided, sign in as Ada and open:");
  plain(`    ${confirmationUrl}`);
  plain();
  plain("Copy these lines. They have the agent's API key, and requests to send with it.");
  plain();
  plain(`API=${service.url}`);
  plain(`KEY='Authorization: Bearer ${apiKey}'`);
  plain();
  plain("# What the agent may pay, and what it has paid:");
  plain(`curl -sS -w "\\n" $API/api/v1/mandates/${mandateId} -H "$KEY"`);
  plain('curl -sS -w "\\n" $API/api/v1/payments -H "$KEY"');
  plain("# May it pay this? A repeat gets the same answer:");
  plain(asked);
  plain("# Pay with agent.mjs of docs/start/first-agent.md. Run this in the folder of agent.mjs:");
  plain(`export COUNTERSIGN_URL=$API COUNTERSIGN_API_KEY=${apiKey}`);
  plain(`COUNTERSIGN_MANDATE=${mandateId} AGENT_PRIVATE_KEY=$(cat ${resolve(keyFile)}) \\`);
  plain(`  node agent.mjs http://${shop}/report my-first-purchase`);
  plain("# Pay without a wallet key, under the mandate that is registered on the chain. Python needs no packages:");
  plain(`COUNTERSIGN_MANDATE=${keyless.mandateId} SELLER=${sellerId} RESOURCE=report \\`);
  plain(`  python3 ${join(home(), "examples/agent.py")} http://${shop}/report my-second-purchase`);
  plain("# The same by MCP:");
  plain(`curl -sS -w "\\n" $API/mcp -H "$KEY" -H 'Content-Type: application/json' \\`);
  plain(`  -H 'Accept: application/json, text/event-stream' -d '${JSON.stringify(calling(`http://${shop}/report`, keyless))}'`);
  plain("# All operations of the API:");
  plain('curl -sS -w "\\n" $API/api/v1/openapi.json');
  plain();
  plain(`The service runs at ${service.url} until you press Ctrl-C.`);
}
