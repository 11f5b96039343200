import { Counts, hasPlace } from "#lib/http/share.ts";
import { perProcess } from "#lib/process.ts";

/** The most waiting requests in total and per organization. The last `kept` are for organizations that have none waiting. */
const PER_ORGANIZATION = { most: 512, each: 64, kept: 64 };

const waits = (): Counts => perProcess("execute/settle-waits", () => new Counts());

/** Returns null at once if too many requests, of this organization or in total, are already waiting. */
export async function inPlace<T>(organizationId: string, wait: () => Promise<T>): Promise<{ readonly value: T } | null> {
  const counts = waits();
  if (!hasPlace(counts.of(organizationId), counts.total, PER_ORGANIZATION)) return null;
  counts.add(organizationId, 1);
  try {
    return { value: await wait() };
  } finally {
    counts.add(organizationId, -1);
  }
}
