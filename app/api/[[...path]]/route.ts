import { everyMethod, notFoundRoute } from "#lib/api/route.ts";

/** Answers the paths that no other file here serves. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod(notFoundRoute);
