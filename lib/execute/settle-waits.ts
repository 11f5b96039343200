import { Counts, hasPlace } from "#lib/http/share.ts";
import { perProcess } from "#lib/process.ts";

/** Requests that may wait at once for a settlement that is under way; `each` is a seller's organization. */
const PER_ORGANIZATION = { most: 512, each: 64, kept: 64 };

const waits = (): Counts => perProcess("settleWaits", () => new Counts());

/** Waits in one of this process's places. Null at once if none is free. */
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
