import { llmsText } from "#lib/pages/docs/llms-text.ts";
import { env } from "#lib/env.ts";

export const dynamic = "force-dynamic";

export const GET = (): Response =>
  new Response(llmsText(env().BASE_URL), {
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "public, max-age=300" },
  });
