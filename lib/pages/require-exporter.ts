import { lacksCapability } from "#lib/http/access.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { authenticateReader } from "#lib/identity/sessions/authenticate.ts";
import { Problem } from "#lib/problem.ts";
import type { Capability } from "#lib/vocabulary.ts";

/**
 * Called before the export begins, and again with `ofFile` before each batch of rows, because a person can lose rights during a
 * long download.
 * @throws Problem unauthenticated, capability_required
 */
export async function requireExporter(
  cookie: string | null,
  capability: Capability,
  ofFile?: { readonly organizationId: string },
): Promise<MemberCaller> {
  const caller = await authenticateReader(cookie);
  if (!caller?.organizationId) throw new Problem("unauthenticated", { detail: "Sign in to export this file." });
  const { organizationId, capabilities } = caller;
  if (!capabilities.has(capability)) throw lacksCapability(capability);
  if (ofFile === undefined || ofFile.organizationId === organizationId) return { ...caller, organizationId };
  throw new Problem("capability_required", {
    detail: "Another organization is now active in this session. Export the file again.",
  });
}
