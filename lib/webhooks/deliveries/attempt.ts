import { DAY_MS, minutes } from "#lib/time.ts";

/** `status` is null if the message could not be sent or the endpoint did not answer. */
export type Answer = {
  readonly status: number | null;
  readonly body: string | null;
  readonly error: string | null;
  readonly durationMs: number;
};

const hours = (count: number): number => minutes(60 * count);

/** The pauses before the second and all later attempts: without jitter, a little more than three days in total. */
export const PAUSES = [5_000, minutes(5), minutes(30), hours(2), hours(5), hours(10), hours(14), hours(20), hours(24)];
const JITTER = 0.1;

/** Null after the last attempt. `random`, 0 to 1, shortens the pause, so that not all failed messages are repeated at once. */
export function pauseAfter(attempts: number, random: number): number | null {
  const pause = PAUSES[attempts - 1];
  return pause === undefined ? null : Math.round(pause * (1 - JITTER * random));
}

export const isDelivered = ({ status }: Answer): boolean => status !== null && status >= 200 && status < 300;

const DISABLED_AFTER_MS = 5 * DAY_MS;

type Failing = {
  readonly failingSince: Date;
  /** Failed messages since `failingSince`, counted up to two: a single one may be one that the receiver does not understand. */
  readonly failedEvents: number;
};

/** Null if the failure does not disable the endpoint. */
export function disabledBy({ status }: Answer, { failingSince, failedEvents }: Failing, now: Date): string | null {
  if (status === 410) return "The endpoint answered 410 Gone.";
  const isLong = now.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS;
  return isLong && failedEvents > 1 ? "No message was delivered in five days." : null;
}
