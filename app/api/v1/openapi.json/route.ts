import { openApiMethods } from "#lib/http/serve-openapi.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = openApiMethods;
