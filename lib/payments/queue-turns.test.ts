import { afterEach, describe, expect, test, vi } from "vitest";
import { bounds } from "#lib/payments/queue.ts";
import { item, many, openQueue, type Open } from "#test/open-queue.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("organizations that wait in the queue", () => {
  test("take turns: one with many requests does not delay one with few", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const loud = many(1000, () => item("org_loud")).map((one) => queue.submit(one));
    const quiet = many(3, () => item("org_quiet")).map((one) => queue.submit(one));
    await turn();
    expect(batches[0]!.items.filter(({ organizationId }) => organizationId === "org_quiet")).toHaveLength(3);
    await finish();
    await Promise.all([...loud, ...quiet]);
  });

  test("are all served before one is served twice, with only 32 in a batch", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const names = Array.from({ length: 80 }, (_, at) => `org_${at}`);
    const all = names.flatMap((name) => many(20, () => item(name)).map((one) => queue.submit(one)));
    const served: string[] = [];
    for (await turn(); served.length < 80; await turn()) {
      served.push(...new Set(batches[0]!.items.map(({ organizationId }) => organizationId)));
      batches[0]!.end();
    }
    expect(new Set(served.slice(0, 80)).size).toBe(80);
    await finish();
    await Promise.all(all);
  });

  const mandatesOf = (batches: readonly Open[]) =>
    batches.map(({ items }) => [...new Set(items.map(({ mandateId }) => mandateId))]);

  test("with a mandate whose batch is slow do not delay their other mandates", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { queue, batches, turn, finish } = openQueue();
    const all = [queue.submit(item("org_a", "busy"))];
    await turn();
    all.push(queue.submit(item("org_a", "busy")), queue.submit(item("org_a", "free")));
    await turn();
    expect(mandatesOf(batches)).toEqual([["busy"]]);
    vi.advanceTimersByTime(bounds.slowMs);
    await turn();
    expect(mandatesOf(batches)).toEqual([["busy"], ["free"]]);
    // The batch of the free mandate is not slow yet, so a later request waits until this batch ends.
    all.push(queue.submit(item("org_a", "later")));
    batches[1]!.end();
    await turn();
    expect(mandatesOf(batches)).toEqual([["busy"], ["later"]]);
    await finish();
    await Promise.all(all);
    // The slow batch has ended and no longer counts as open, so the next batch is the only one.
    const last = [queue.submit(item("org_a", "first"))];
    await turn();
    last.push(queue.submit(item("org_a", "second")));
    await turn();
    expect(mandatesOf(batches)).toEqual([["first"]]);
    await finish();
    await Promise.all(last);
  });

  test("get a second batch at once if enough of their requests wait", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const all = [queue.submit(item("org_a", "busy"))];
    await turn();
    all.push(...many(bounds.worthASecond, () => item("org_b", "free")).map((one) => queue.submit(one)));
    await turn();
    expect(batches.map(({ items }) => items.length)).toEqual([1, bounds.worthASecond]);
    await finish();
    await Promise.all(all);
  });
});
