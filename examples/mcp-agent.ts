// An MCP client that calls a paid tool of a server and pays for it under the mandate.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { countersign } from "countersign";
import { payingTools } from "countersign/mcp";
import { privateKeyToAccount } from "viem/accounts";

const { COUNTERSIGN_URL: url = "", COUNTERSIGN_API_KEY: apiKey = "", COUNTERSIGN_MANDATE: mandateId = "" } = process.env;
const [serverUrl = "", operation = ""] = process.argv.slice(2);
const wallet = privateKeyToAccount(`0x${process.env.AGENT_PRIVATE_KEY?.slice(2)}`);
const pay = countersign({ url, apiKey, mandateId, wallet });

const client = new Client({ name: "agent", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(serverUrl)));
const callTool = payingTools(client, pay, { url: serverUrl });
const { content } = await callTool({ name: "report", arguments: {} }, { operation });
console.log(JSON.stringify(content));
await client.close();
