import { notFound } from "next/navigation";
import { readCaller } from "#app/session.ts";
import { logoOf } from "#lib/pages/settings/view-organization.ts";

/** The address of the logo contains its version, so the browser may cache the reply. */
export async function GET(): Promise<Response> {
  const caller = await readCaller();
  const logo = caller?.organizationId ? await logoOf(caller.organizationId) : null;
  if (!logo) notFound();
  return new Response(logo.bytes, {
    headers: {
      "Content-Type": logo.type,
      "Cache-Control": "private, max-age=31536000, immutable",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
