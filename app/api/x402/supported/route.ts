import { supportedMethods } from "#lib/settlement/serve-facilitator.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = supportedMethods;
