import { notFound } from "next/navigation";
import { requireCaller } from "#app/session.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import type { PlatformCapability } from "#lib/vocabulary.ts";

/** People without any of the capabilities get a 404, and people without a session are sent to sign-in. */
export async function requireOfficial(path: string, ...capabilities: readonly PlatformCapability[]): Promise<SessionCaller> {
  const caller = await requireCaller(path);
  if (!capabilities.some((capability) => caller.platformCapabilities.has(capability))) notFound();
  return caller;
}
