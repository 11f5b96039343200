import type { KeyCaller } from "#lib/http/operation.ts";
import { agentChallenge, authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";

/**
 * The service account that a request to the MCP server acts for, by an API key or an OAuth token. A session is refused. Nothing is cached:
 * it is called again before each operation of a tool, so a key or connection that was ended stops at once.
 * @throws Problem unauthenticated, ambiguous_credentials, api_key_invalid
 */
export const authenticateMcp = (request: Request): Promise<KeyCaller> => authenticateAgent(request);

/** The WWW-Authenticate header of a 401. It tells a client where to find out how to sign in. */
export const mcpChallenge = (request: Request): string => agentChallenge(request);
