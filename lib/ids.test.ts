import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { firstIdAt, newId } from "#lib/ids.ts";

/** Reads the time in an id. */
const timeOf = (id: string): number =>
  id
    .slice(4, 14)
    .split("")
    .reduce((sum, letter) => sum * 32 + "0123456789abcdefghjkmnpqrstvwxyz".indexOf(letter), 0);

describe("newId", () => {
  test("is a prefix and 26 characters that contain the millisecond, and never repeats", () => {
    const before = Date.now();
    const ids = Array.from({ length: 20_000 }, () => newId("mandate"));
    const after = Date.now();
    for (const id of ids) expect(id).toMatch(/^mdt_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(new Set(ids.map((id) => id.slice(16))).size).toBe(ids.length);
    // After 1,024 ids in one millisecond, the next ids contain the next millisecond.
    const borrowed = ids.length / 1_024;
    expect(ids.every((id) => timeOf(id) >= before && timeOf(id) <= after + borrowed)).toBe(true);
  });

  test("sorts in the order of creation, also within a millisecond and when the clock is set back", () => {
    vi.useFakeTimers({ now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const ids = Array.from({ length: 3_000 }, () => newId("mandate"));
    vi.setSystemTime(Date.now() - 5_000);
    ids.push(newId("mandate"));
    expect(ids.toSorted()).toEqual(ids);
  });

  test("every character of the random part varies", () => {
    const ids = Array.from({ length: 2_000 }, () => newId("mandate").slice(16));
    for (let place = 0; place < 14; place += 1) expect(new Set(ids.map((id) => id[place])).size, String(place)).toBe(32);
  });
});

describe("firstIdAt", () => {
  test("sorts by time, and before the ids that are made at that time", () => {
    const millisecond = fc.integer({ min: 0, max: 2 ** 47 });
    fc.assert(
      fc.property(millisecond, millisecond, (one, other) => {
        const [first, second] = [firstIdAt("mandate", new Date(one)), firstIdAt("mandate", new Date(other))];
        expect(timeOf(first)).toBe(one);
        expect(Math.sign(first < second ? -1 : Number(first > second))).toBe(Math.sign(one - other));
      }),
    );
    const now = new Date();
    expect(firstIdAt("mandate", now) <= newId("mandate")).toBe(true);
  });
});
