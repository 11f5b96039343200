import { Client, StreamableHTTPClientTransport, type ElicitResult } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { env } from "#lib/env.ts";
import { memory } from "../../e2e/setup/program.ts";
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

/**
 * A client that knows only the address of the service. `person` gets the query of the authorization request, and returns the
 * address to which the browser is sent.
 */
export async function connectByAddress(isOld: boolean, url: string, person: (query: string) => Promise<string>) {
  const { kept, provider } = memory("http://127.0.0.1:7777/callback", { name: "Judge" });
  const { BASE_URL } = env();
  const options = {
    authProvider: provider,
    fetch: (to: string | URL, init?: RequestInit) => fetch(String(to).replace(BASE_URL, url), init),
  };
  const address = new URL("/mcp", BASE_URL);
  const open = () =>
    isOld
      ? { client: new OldClient(info), transport: new OldTransport(address, options) }
      : {
          client: new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
          transport: new StreamableHTTPClientTransport(address, options),
        };
  const first = open();
  const refusal: unknown = await first.client.connect(first.transport as never).catch((error: unknown) => error);
  if (kept.url === undefined) throw refusal;
  const answer = new URL(await person(kept.url.search.slice(1)));
  await first.transport.finishAuth(isOld ? (answer.searchParams.get("code") as never) : (answer.searchParams as never));
  const { client, transport } = open();
  await client.connect(transport);
  opened.push(client);
  const call: CallTool = async (name, args = {}) => resultOf(await client.callTool({ name, arguments: { ...args } }));
  return { call };
}
