import { protectedResourceMethods } from "#lib/server/serve-oauth.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = protectedResourceMethods;
