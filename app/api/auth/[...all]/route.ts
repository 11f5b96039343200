import { everyMethod } from "#lib/api/route.ts";
import { serveAuth } from "#lib/server/serve-auth.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(serveAuth);
