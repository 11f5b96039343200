import { openApiDocument } from "#lib/openapi/openapi.ts";
import { exportMethods, type Methods } from "#lib/api/route.ts";
import { newId } from "#lib/ids.ts";
import { operations } from "#lib/operations/operations.ts";
import { perProcess } from "#lib/process.ts";

const text = (): string => perProcess("server/serve-openapi", () => JSON.stringify(openApiDocument(operations)));

const serve = (): Promise<Response> =>
  Promise.resolve(
    new Response(text(), {
      headers: {
        "Content-Type": "application/json",
        "Cache-Control": "public, max-age=300",
        "X-Content-Type-Options": "nosniff",
        "Request-Id": newId("request"),
      },
    }),
  );

export const openApiMethods: Methods = exportMethods({ GET: serve });
