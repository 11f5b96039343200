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

/**
 * The storage of an official MCP client, old or new. At first it has only the registered client id; the client adds the rest.
 */
export function memory(clientId: string, redirectUrl: string) {
  const kept: { verifier: string; tokens?: Tokens; url?: URL } = { verifier: "" };
  return {
    kept,
    provider: {
      redirectUrl,
      clientMetadata: { redirect_uris: [redirectUrl], client_name: "Test client", token_endpoint_auth_method: "none" },
      clientInformation: () => ({ client_id: clientId }),
      tokens: () => kept.tokens as never,
      saveTokens: (tokens: unknown) => void (kept.tokens = tokens as Tokens),
      redirectToAuthorization: (url: URL) => void (kept.url = url),
      saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
      codeVerifier: () => kept.verifier,
    },
  };
}
