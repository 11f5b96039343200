import { notFound } from "next/navigation";
import { requireCaller } from "#app/session.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import type { PlatformCapability } from "#lib/vocabulary.ts";

/** The person who reads a page of the platform's staff. People with none of these capabilities get a 404. */
export async function requireOfficial(path: string, ...capabilities: readonly PlatformCapability[]): Promise<SessionCaller> {
  const caller = await requireCaller(path);
  if (!capabilities.some((capability) => caller.platformCapabilities.has(capability))) notFound();
  return caller;
}
