import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export const mcpAddress = () => new URL("/mcp", process.env["BASE_URL"] ?? "");

/** A program on the person's device that waits for the answer of the authorization server. */
export async function openCallback() {
  const answers: URL[] = [];
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/callback")) answers.push(new URL(request.url, "http://127.0.0.1"));
    response.setHeader("Content-Type", "text/html").end("<title>Done</title><p>Go back to the program.");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { redirectUrl: `http://127.0.0.1:${port}/callback`, answers, close: () => server.close() };
}

type Tokens = { readonly access_token: string; readonly refresh_token: string };

type Registration = { readonly client_id: string };

/** The storage of an official MCP client, old or new. Without a client id it is empty, so the client registers itself. */
export function memory(redirectUrl: string, { clientId, name = "Test client" }: { clientId?: string; name?: string } = {}) {
  const kept: { verifier: string; client?: Registration; tokens?: Tokens; url?: URL } = {
    verifier: "",
    ...(clientId !== undefined && { client: { client_id: clientId } }),
  };
  return {
    kept,
    provider: {
      redirectUrl,
      clientMetadata: { redirect_uris: [redirectUrl], client_name: name },
      clientInformation: () => kept.client,
      saveClientInformation: (client: unknown) => void (kept.client = client as Registration),
      tokens: () => kept.tokens as never,
      saveTokens: (tokens: unknown) => void (kept.tokens = tokens as Tokens),
      redirectToAuthorization: (url: URL) => void (kept.url = url),
      saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
      codeVerifier: () => kept.verifier,
    },
  };
}
