import { everyMethod } from "#lib/api/route.ts";
import { dispatch } from "#lib/server/routes.ts";

/** The API under Next.js, which serves it in development only: `lib/server/routes.ts` mounts each operation, also for the server. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = everyMethod((request) => dispatch(request));
