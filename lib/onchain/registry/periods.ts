/** `start` and `end` are in seconds since 1970, and `end` is exclusive. */
export type Times = { readonly start: number; readonly end: number; readonly periodSeconds: number };

export type Period = {
  /** The number of the period, as the registry counts: the first period is 0. */
  readonly period: number;
  /** In seconds since 1970. */
  readonly ends: number;
  readonly isLast: boolean;
};

const seconds = (time: Date): number => Math.floor(time.getTime() / 1_000);

/** Null before the first period and after the last. */
export function periodAt({ start, end, periodSeconds }: Times, now: Date): Period | null {
  const at = seconds(now);
  if (at < start || at >= end) return null;
  const period = Math.floor((at - start) / periodSeconds);
  const next = start + (period + 1) * periodSeconds;
  return { period, ends: Math.min(next, end), isLast: next >= end };
}

/** With fewer seconds left in its period, a payment is not signed, because it might be mined too late. */
const EDGE_SECONDS = 45;
const LIFE_MIN_SECONDS = 60;

export type Life =
  | { readonly kind: "open"; readonly period: number; readonly validBefore: number }
  /** A new period begins in `seconds` seconds; a payment that is signed now might arrive too late for the current one. */
  | { readonly kind: "edge"; readonly seconds: number }
  | { readonly kind: "notStarted" }
  | { readonly kind: "ended" };

/** A payment is valid for `usualSeconds`, or for 60 seconds if that is longer, but not past the end of its period. */
export function lifeAt(times: Times, now: Date, usualSeconds: number): Life {
  const current = periodAt(times, now);
  const at = seconds(now);
  if (!current) return { kind: at < times.start ? "notStarted" : "ended" };
  const left = current.ends - at;
  if (left < EDGE_SECONDS) return current.isLast ? { kind: "ended" } : { kind: "edge", seconds: left };
  const validBefore = Math.min(at + Math.max(usualSeconds, LIFE_MIN_SECONDS), current.ends);
  return { kind: "open", period: current.period, validBefore };
}
