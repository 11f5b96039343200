import { notFound } from "next/navigation";
import { requireCaller } from "#app/session.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import type { PlatformCapability } from "#lib/vocabulary.ts";

/** Who looks at a page of the platform. For somebody who has none of these capabilities it is not there. */
export async function requireOfficial(path: string, ...capabilities: readonly PlatformCapability[]): Promise<SessionCaller> {
  const caller = await requireCaller(path);
  if (!capabilities.some((capability) => caller.platformCapabilities.has(capability))) notFound();
  return caller;
}
