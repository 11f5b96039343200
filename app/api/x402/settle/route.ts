import { settleMethods } from "#lib/server/serve-facilitator.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = settleMethods;
