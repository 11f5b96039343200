import { openApiMethods } from "#lib/server/serve-openapi.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = openApiMethods;
