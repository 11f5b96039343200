import { everyMethod, notFoundRoute } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(notFoundRoute);
