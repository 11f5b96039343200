import { Client, StreamableHTTPClientTransport, type ElicitResult } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Credential } from "#test/tenant.ts";

/* The official MCP clients, as agents use them: one of protocol 2026-07-28, and one of 2025. */

export type Fields = Readonly<Record<string, unknown>>;
export type Result = { readonly structuredContent: Fields; readonly isError: boolean; readonly texts: readonly string[] };
export type CallTool = (name: string, args?: Fields, options?: { readonly timeout?: number }) => Promise<Result>;

type Raw = Readonly<Record<string, unknown>>;

const resultOf = ({ structuredContent, isError, content }: Raw): Result => ({
  structuredContent: (structuredContent ?? {}) as Fields,
  isError: isError === true,
  texts: (content as readonly { readonly text: string }[]).map(({ text }) => text),
});

const opened: { close(): Promise<void> }[] = [];
export const closeClients = () => Promise.all(opened.splice(0).map((client) => client.close()));

const info = { name: "judge", version: "1" };

export type Asked = { readonly url: string; readonly message: string };
type Action = ElicitResult["action"];
type Answer = (asked: Asked) => Promise<Action> | Action;

/** A client of protocol 2026-07-28. With `onUrl` it shows pages to its person. */
export async function newClient(url: string, headers: Credential, onUrl?: Answer) {
  const client = new Client(info, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    capabilities: onUrl ? { elicitation: { url: {} } } : {},
  });
  if (onUrl)
    client.setRequestHandler("elicitation/create", async ({ params }) => ({ action: await onUrl(params as unknown as Asked) }));
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }));
  opened.push(client);
  const call: CallTool = async (name, args = {}, options) =>
    resultOf(await client.callTool({ name, arguments: { ...args } }, options));
  return { client, call };
}

/** A client of the SDK's first version, which uses a protocol of 2025. */
export async function oldClient(url: string, headers: Credential) {
  const client = new OldClient(info, { capabilities: { elicitation: { url: {} } } });
  const transport = new OldTransport(new URL("/mcp", url), { requestInit: { headers } });
  await client.connect(transport);
  opened.push(client);
  const call: CallTool = async (name, args = {}) => resultOf(await client.callTool({ name, arguments: { ...args } }));
  return { client, call };
}
