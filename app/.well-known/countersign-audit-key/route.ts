import { describeKey, signingKey } from "#lib/audit/checkpoint.ts";

/** The public key for audit checkpoints, so that anyone can verify an export. */
export function GET(): Response {
  return Response.json(describeKey(signingKey()), { headers: { "Cache-Control": "public, max-age=300" } });
}

export const dynamic = "force-dynamic";
