import { everyMethod } from "#lib/api/route.ts";
import { dispatch } from "#lib/server/routes.ts";

/**
 * Serves the API through Next.js, which happens only in development. Otherwise the service's own HTTP server serves the same
 * operations with `dispatch`.
 */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod((request) => dispatch(request));
