import { keysMethods } from "#lib/server/serve-keys.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = keysMethods;
