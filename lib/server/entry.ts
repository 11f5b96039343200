import { otherRoutes, routes } from "#app/routes.ts";
import { operations, type OperationId } from "#lib/operations/operations.ts";
import { createDispatch } from "#lib/server/dispatch.ts";
import { serveWith, type ServeOptions } from "#lib/server/serve.ts";

const methodsAt = new Map(operations.map(({ id, path }) => [path, routes[id as OperationId]]));

/** Serves the route files of app/, which are at the paths of their operations. */
export const dispatch = createDispatch(
  [...methodsAt, ...Object.entries(otherRoutes)].map(([path, methods]) => ({ path, methods })),
);

export const serve = (options: Omit<ServeOptions, "dispatch">): Promise<void> => serveWith({ ...options, dispatch });
