import { authorizationServerMethods } from "#lib/server/serve-oauth.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = authorizationServerMethods;
