import { exportMethods, type Methods } from "#lib/api/route.ts";
import { followRequest, noteOrganization } from "#lib/db/request.ts";
import { withinDeadline } from "#lib/http/deadline.ts";
import { parseJson, readBody } from "#lib/http/json.ts";
import type { KeyCaller } from "#lib/http/operation.ts";
import { ownOrigins } from "#lib/http/origin.ts";
import { limitAnonymous, requireAllowed, takeCredential } from "#lib/http/rate-limit.ts";
import { headersOf, problemReply, toProblem } from "#lib/http/reply.ts";
import { newId } from "#lib/ids.ts";
import { agentChallenge, authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import { invalidField, Problem } from "#lib/problem.ts";
import { observeRequest } from "#lib/telemetry/metrics.ts";

const MCP_PATH = "/mcp";

/** Longer than the time limit of a tool. */
const DEADLINE_MS = 60_000;

/** Twice the largest body of fetch_paid, because the message around it and escapes take space too. */
const MESSAGE_BYTES = 131_072;
const NODES_MAX = 20_000;
const DEPTH_MAX = 24;
/** Only clients of protocol 2025-03-26 send several messages in one request. */
const MESSAGES_MAX = 20;

const hostOf = (host: string | null): string | null => {
  const url = `http://${host ?? ""}`;
  return URL.canParse(url) ? new URL(url).hostname : null;
};

/** Refuses other names in Host, against DNS rebinding, and pages of other hosts. */
function requireOwnNames(request: Request): void {
  const names = new Set(ownOrigins().map((origin) => new URL(origin).hostname));
  const host = hostOf(request.headers.get("host") ?? new URL(request.url).host);
  const origin = request.headers.get("origin");
  const from = origin === null ? null : URL.canParse(origin) ? new URL(origin).hostname : "";
  if (host !== null && names.has(host) && (from === null || names.has(from))) return;
  throw new Problem("origin_not_allowed", {
    detail: `The MCP server answers at ${ownOrigins()[0]}${MCP_PATH}, and no pages of other sites.`,
  });
}

async function identify(request: Request): Promise<KeyCaller> {
  const caller = await limitAnonymous(request, authenticateAgent(request));
  requireAllowed(takeCredential(caller));
  noteOrganization(caller.organizationId);
  return caller;
}

/** Each further message counts for the rate limit as a request of its own. */
async function readMessages(request: Request, caller: KeyCaller): Promise<unknown> {
  const messages = parseJson(await readBody(request, MESSAGE_BYTES), NODES_MAX, DEPTH_MAX);
  if (!Array.isArray(messages)) return messages;
  if (messages.length > MESSAGES_MAX)
    throw invalidField("", `A request has at most ${MESSAGES_MAX} messages. Send the others in further requests.`);
  for (let at = 1; at < messages.length; at += 1) requireAllowed(takeCredential(caller));
  return messages;
}

async function answer(request: Request): Promise<Response> {
  requireOwnNames(request);
  const caller = await identify(request);
  const parsedBody = await readMessages(request, caller);
  // Load the SDK with the first request, because an installation may have no agents that use MCP.
  const { mcpHandler } = await import("#lib/mcp/mcp-server.ts");
  const extra = { caller, request };
  const authInfo = { token: "", clientId: caller.subjectId, scopes: [...caller.capabilities], extra };
  return mcpHandler().fetch(request, { authInfo, parsedBody });
}

function refusal(error: unknown, request: Request, requestId: string): Response {
  const { status, headers, body } = problemReply(toProblem(error, requestId, "mcp"), requestId, null);
  return new Response(body, {
    status,
    headers: { ...headers, ...(status === 401 && { "WWW-Authenticate": agentChallenge(request) }) },
  });
}

async function serve(request: Request): Promise<Response> {
  const started = performance.now();
  const requestId = newId("request");
  let response: Response;
  try {
    response = await withinDeadline(
      followRequest(() => answer(request)),
      DEADLINE_MS,
    );
    const { "Content-Type": _, ...headers } = headersOf(requestId, response.status, null);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  } catch (error) {
    response = refusal(error, request, requestId);
  }
  observeRequest("mcp", response.status, performance.now() - started);
  return response;
}

/** Only POST, because the server sends no messages on its own and there are no sessions to end. */
export const mcpMethods: Methods = exportMethods({ POST: serve });
