import { expect, test } from "vitest";
import { DAY_MS, minutes } from "#lib/time.ts";
import { disabledBy, pauseAfter, type Answer } from "#lib/webhooks/deliveries/attempt.ts";
import { isWanted } from "#lib/webhooks/deliveries/message.ts";

test("pauses grow from five seconds to a day, and after the last attempt there is none", () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((attempts) => pauseAfter(attempts, 0));
  expect([pauses[0], pauses[8], pauses[9]]).toEqual([5_000, DAY_MS, null]);
  expect(pauses.slice(0, 9)).toEqual(pauses.slice(0, 9).toSorted((a, b) => Number(a) - Number(b)));
  expect(pauseAfter(2, 1)).toBe(minutes(4.5));
});

test("410 and five days without a success disable an endpoint; failures of a single event do not", () => {
  const now = new Date("2026-11-24T00:00:00Z");
  const answer = (status: number | null): Answer => ({ status, body: null, error: "x", durationMs: 1 });
  const since = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const disables = (status: number | null, days: number, failedEvents: number) =>
    disabledBy(answer(status), { failingSince: since(days), failedEvents }, now) !== null;
  expect([disables(410, 0, 1), disables(500, 5, 2), disables(null, 6, 2)]).toEqual([true, true, true]);
  expect([disables(500, 4.9, 2), disables(500, 30, 1)]).toEqual([false, false]);
});

test("an endpoint can want all events, all events of an entity, or single types", () => {
  expect(isWanted("payment.settled", [])).toBe(true);
  expect(isWanted("payment.settled", ["mandate.*", "payment.settled"])).toBe(true);
  expect(isWanted("payment.settled", ["payment.*"])).toBe(true);
  expect(isWanted("payment.settled", ["payment.denied", "pay.*", "mandate.*"])).toBe(false);
});
