import { invalidField, notFound } from "#lib/problem.ts";
import type { ResourceRow } from "#lib/sellers/resource-store.ts";

export function onlyOne(found: readonly ResourceRow[], pointer: string): ResourceRow {
  const [resource, other] = found;
  if (!resource) throw notFound("resource");
  if (other) throw invalidField(pointer, "Several of your sellers have a resource with this id; name the seller.");
  return resource;
}
