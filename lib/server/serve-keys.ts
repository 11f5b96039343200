import { exportMethods, type Methods } from "#lib/api/route.ts";
import { publicKeys } from "#lib/audit/signing-key.ts";

export const KEYS_PATH = "/.well-known/jwks.json";

/**
 * Serves the public keys of receipts and of the signed newest entries of audit chains. Pages of other origins may read them, so
 * that verifiers there work.
 */
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
