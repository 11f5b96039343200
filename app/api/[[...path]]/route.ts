import { everyMethod } from "#lib/api/route.ts";
import { dispatch } from "#lib/server/routes.ts";

/**
 * The API under Next.js. Next.js serves it only in development; otherwise the server serves the same operations by
 * lib/server/routes.ts.
 */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod((request) => dispatch(request));
