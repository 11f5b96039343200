import { authRoutes } from "#lib/identity/serve-auth.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = authRoutes;
