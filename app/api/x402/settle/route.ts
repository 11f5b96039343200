import { settleMethods } from "#lib/settlement/serve-facilitator.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = settleMethods;
