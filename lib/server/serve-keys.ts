import { exportMethods, type Methods } from "#lib/api/route.ts";
import { publicKeys } from "#lib/audit/signing-key.ts";

/** Pages of other origins may read the keys, so that they can verify receipts. */
const serve = (): Promise<Response> =>
  Promise.resolve(
    Response.json(publicKeys(), {
      headers: {
        "Cache-Control": "public, max-age=300",
        "Access-Control-Allow-Origin": "*",
        "X-Content-Type-Options": "nosniff",
      },
    }),
  );

export const keysMethods: Methods = exportMethods({ GET: serve });
