import { mcpMethods } from "#lib/mcp/serve-mcp.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = mcpMethods;
