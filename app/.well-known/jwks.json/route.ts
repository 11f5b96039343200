import { publicKeys } from "#lib/audit/signing-key.ts";

/** The public keys of receipts and checkpoints, so that anyone can verify them. Readable by pages of other origins, for a verifier there. */
export function GET(): Response {
  const headers = { "Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*" };
  return Response.json(publicKeys(), { headers });
}

export const dynamic = "force-dynamic";
