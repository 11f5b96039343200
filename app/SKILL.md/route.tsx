import { skillText } from "#lib/pages/docs/skill-text.ts";
import { env } from "#lib/env.ts";

export const dynamic = "force-dynamic";

export const GET = (): Response =>
  new Response(skillText(env().BASE_URL), {
    headers: { "content-type": "text/markdown; charset=utf-8", "cache-control": "public, max-age=300" },
  });
