import { describeKey, signingKey } from "#lib/audit/checkpoint.ts";

/** The public half of the key that signs audit checkpoints, for whoever checks an export. */
export function GET(): Response {
  return Response.json(describeKey(signingKey()), { headers: { "Cache-Control": "public, max-age=300" } });
}

export const dynamic = "force-dynamic";
