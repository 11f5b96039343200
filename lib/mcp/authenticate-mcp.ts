import type { KeyCaller } from "#lib/http/operation.ts";
import { agentChallenge, authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";

/**
 * The service account for which a request to the MCP server acts, by an API key or an OAuth token. A session is refused. Nothing
 * is cached: this runs again before each operation of a tool, so a key or connection that was ended stops working at once.
 * @throws Problem unauthenticated, ambiguous_credentials, api_key_invalid
 */
export const authenticateMcp = (request: Request): Promise<KeyCaller> => authenticateAgent(request);

/** The WWW-Authenticate header of a 401 reply. It tells a client where to find out how to sign in. */
export const mcpChallenge = (request: Request): string => agentChallenge(request);
