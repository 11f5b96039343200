import { Counts, hasPlace } from "#lib/http/share.ts";
import { perProcess } from "#lib/process.ts";

/**
 * How many HTTP requests may wait for settlements at once: in total (`most`), and for one seller's organization (`each`). The
 * last `kept` places are only for organizations that have no waiting request yet.
 */
const PER_ORGANIZATION = { most: 512, each: 64, kept: 64 };

const waits = (): Counts => perProcess("settleWaits", () => new Counts());

/**
 * Runs `wait` and returns its value. Returns null at once if too many requests, of this organization or in total, are already
 * waiting.
 */
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
