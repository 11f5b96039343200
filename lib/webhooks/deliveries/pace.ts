import { setTimeout as pause } from "node:timers/promises";
import { answeredRequests } from "#lib/telemetry/metrics.ts";
import { perProcess } from "#lib/process.ts";

/** Messages per second while this process answers many HTTP requests, so that the requests get enough CPU time. */
const BESIDE_REQUESTS = 510;
const MANY_REQUESTS = 100;
const WINDOW_MS = 250;
/** At least this many messages are granted at once, if they are wanted: fewer take more CPU time each. */
const TURN = 16;

type Pace = { tokens: number; filledAt: number; requests: number; windowAt: number; isBusy: boolean };

const pace = (): Pace =>
  perProcess("webhooks/deliveries/pace", () => ({
    tokens: BESIDE_REQUESTS,
    filledAt: performance.now(),
    requests: answeredRequests(),
    windowAt: performance.now(),
    isBusy: false,
  }));

function refill(now: number): Pace {
  const state = pace();
  const elapsed = now - state.windowAt;
  if (elapsed >= WINDOW_MS) {
    const requests = answeredRequests();
    state.isBusy = ((requests - state.requests) * 1_000) / elapsed >= MANY_REQUESTS;
    Object.assign(state, { requests, windowAt: now });
  }
  // At most the tokens of a quarter of a second are kept, so that no larger number of messages is sent at once.
  state.tokens = Math.min(BESIDE_REQUESTS / 4, state.tokens + ((now - state.filledAt) * BESIDE_REQUESTS) / 1_000);
  state.filledAt = now;
  return state;
}

/** Returns how many messages may be sent, at most `wanted`; waits only while this process answers many HTTP requests. */
export async function paced(wanted: number): Promise<number> {
  const least = Math.min(wanted, TURN);
  for (;;) {
    const state = refill(performance.now());
    if (!state.isBusy) return wanted;
    if (state.tokens >= least) {
      const granted = Math.min(wanted, Math.floor(state.tokens));
      state.tokens -= granted;
      return granted;
    }
    await pause(Math.ceil(((least - state.tokens) * 1_000) / BESIDE_REQUESTS));
  }
}

/** For messages that were not sent, so that other messages can be sent instead. */
export function giveBack(count: number): void {
  pace().tokens += count;
}
