import type { KeyCaller } from "#lib/http/operation.ts";
import { agentChallenge, authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";

/** Not cached: runs again for each operation of a tool, so that an ended key or connection stops working at once. */
export const authenticateMcp = (request: Request): Promise<KeyCaller> => authenticateAgent(request);

export const mcpChallenge = (request: Request): string => agentChallenge(request);
