import { log } from "#lib/telemetry/log.ts";
import { chainFailure, POLLING_MS, publicClient } from "#lib/chains/client.ts";
import { perProcess } from "#lib/process.ts";
import { atMost } from "#lib/time.ts";

const BLOCKS = 8n;
const FRESH_MS = 60_000;
/**
 * The time between blocks counts as at most this many milliseconds. A chain that makes blocks only when there is traffic can be
 * hours between two blocks.
 */
const MOST_MS = 15_000;
const UNKNOWN_MS = 3_000;

type Measurement = { readonly at: number; readonly blockMs: number };

const known = (): Map<string, Measurement> => perProcess("blockTimes", () => new Map());

/**
 * The average time between the last blocks in milliseconds, measured at most once a minute. If the chain's node does not
 * answer, the last measured time is used, or UNKNOWN_MS if there is none. UNKNOWN_MS is also used while the chain has only one
 * block.
 */
export async function blockTimeMs(chain: string): Promise<number> {
  const before = known().get(chain);
  if (before && performance.now() - before.at < FRESH_MS) return before.blockMs;
  try {
    const client = publicClient(chain);
    const newest = await client.getBlock();
    const count = newest.number < BLOCKS ? newest.number : BLOCKS;
    if (count === 0n) return UNKNOWN_MS;
    const earlier = await client.getBlock({ blockNumber: newest.number - count });
    const blockMs = Math.min(MOST_MS, (Number(newest.timestamp - earlier.timestamp) * 1_000) / Number(count));
    known().set(chain, { at: performance.now(), blockMs });
    return blockMs;
  } catch (error) {
    log().warn({ chain, reason: chainFailure(error) }, "The time between blocks could not be measured");
    return before?.blockMs ?? UNKNOWN_MS;
  }
}

const LOOK_MS_MAX = 1_000;

/** How many milliseconds to wait between two requests for the next block: a quarter of the time between blocks, within limits. */
export async function lookEveryMs(chain: string): Promise<number> {
  return Math.min(LOOK_MS_MAX, Math.max(POLLING_MS, (await atMost(blockTimeMs(chain), POLLING_MS, UNKNOWN_MS)) / 4));
}
