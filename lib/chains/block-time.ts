import { log } from "#lib/telemetry/log.ts";
import { chainFailure, POLLING_MS, publicClient } from "#lib/chains/client.ts";
import { perProcess } from "#lib/process.ts";
import { atMost } from "#lib/time.ts";

const BLOCKS = 8n;
const FRESH_MS = 60_000;
/** The maximum of the measured time, because a chain that makes blocks only when there is traffic can be idle for hours. */
const MOST_MS = 15_000;
const UNKNOWN_MS = 3_000;

type Measurement = { readonly at: number; readonly blockMs: number };

const known = (): Map<string, Measurement> => perProcess("chains/block-time", () => new Map());

/** A measured time is used for a minute. If the node does not answer, the last one or else UNKNOWN_MS is used. */
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
