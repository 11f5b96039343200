import { everyMethod } from "#lib/api/route.ts";
import { dispatch } from "#lib/server/routes.ts";

/** Only development serves the API through Next.js; otherwise the service's own HTTP server calls `dispatch`. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod((request) => dispatch(request));
