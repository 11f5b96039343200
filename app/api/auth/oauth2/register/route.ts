import { registrationMethods } from "#lib/server/serve-auth.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = registrationMethods;
