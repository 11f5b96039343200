import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Answer, Item, Purchase } from "#lib/payments/queue-item.ts";
import { bounds } from "#lib/payments/queue.ts";
import { inShort } from "#test/batches.ts";
import { item, many, openQueue, type Open } from "#test/open-queue.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("a batch", () => {
  test("has one request when idle, and then all requests that arrived while one was open", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const first = queue.submit(item());
    await turn();
    expect(batches.map(({ items }) => items.length)).toEqual([1]);
    const others = many(40, () => item()).map((one) => queue.submit(one));
    await turn();
    expect(batches).toHaveLength(1);
    batches[0]!.end();
    await turn();
    expect(batches.map(({ items }) => items.length)).toEqual([40]);
    await finish();
    expect((await Promise.all([first, ...others])).map(inShort)).toEqual(Array.from({ length: 41 }, () => "allow"));
  });

  test("has at most 256 items of 64 mandates of 32 organizations, and at most two are open", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const all: Promise<Answer>[] = [];
    for (let organization = 0; organization < 100; organization += 1) {
      for (let mandate = 0; mandate < 10; mandate += 1) {
        all.push(queue.submit(item(`org_${organization}`, `mandate ${organization} ${mandate}`)));
      }
    }
    all.push(...many(1000, () => item("org_one")).map((one) => queue.submit(one)));
    let served = 0;
    for (await turn(); batches.length > 0; await turn()) {
      expect(batches.length).toBeLessThanOrEqual(bounds.batchesOpen);
      for (const { items } of batches) {
        expect(items.length).toBeLessThanOrEqual(bounds.itemsPerBatch);
        expect(new Set(items.map(({ mandateId }) => mandateId)).size).toBeLessThanOrEqual(bounds.mandatesPerBatch);
        expect(new Set(items.map(({ organizationId }) => organizationId)).size).toBeLessThanOrEqual(bounds.organizationsPerBatch);
      }
      served += batches[0]!.items.length;
      batches[0]!.end();
    }
    await finish();
    expect([served, (await Promise.all(all)).length, queue.depth]).toEqual([2000, 2000, 0]);
  });

  test("contains at most one approval of each person, because each counts the earlier ones", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const approval = (person: string, at: number): Item => ({
      ...item("org_a", `mandate ${at}`),
      asker: { kind: "session", subjectId: person, sessionId: `${person} ${at}` },
      purchase: { kind: "approval", checkoutIntentId: `checkout ${at}` } as Purchase,
    });
    const all = ["ada", "ada", "bob", "ada"].map((person, at) => queue.submit(approval(person, at)));
    const people: string[][] = [];
    for (await turn(); batches.length > 0; await turn()) {
      people.push(batches[0]!.items.map(({ asker }) => asker.subjectId));
      batches[0]!.end();
    }
    expect(people).toEqual([["ada", "bob"], ["ada"], ["ada"]]);
    await finish();
    await Promise.all(all);
  });

  test("never contains a mandate of the other open batch, and keeps each mandate's order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(4), fc.nat(5), fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 300 }),
        async (steps) => {
          const { queue, batches, turn, finish } = openQueue();
          const decided = new Map<string, string[]>();
          const arrived = new Map<string, string[]>();
          const seen = new WeakSet<Open>();
          const look = () => {
            const mandates = batches.flatMap(({ items }) => [...new Set(items.map(({ mandateId }) => mandateId))]);
            expect(new Set(mandates).size).toBe(mandates.length);
            for (const batch of batches) {
              if (seen.has(batch)) continue;
              seen.add(batch);
              for (const { mandateId, slot } of batch.items) decided.set(mandateId, [...(decided.get(mandateId) ?? []), slot]);
            }
          };
          const answers: Promise<Answer>[] = [];
          for (const [organization, mandate, end, second] of steps) {
            const one = item(`org_${organization}`, `mandate ${organization} ${mandate}`);
            arrived.set(one.mandateId, [...(arrived.get(one.mandateId) ?? []), one.slot]);
            answers.push(queue.submit(one));
            if (end) {
              await turn();
              look();
              batches[second ? 1 : 0]?.end();
            }
          }
          for (await turn(); batches.length > 0; await turn()) {
            look();
            batches[0]!.end();
          }
          await finish();
          expect(await Promise.all(answers)).toHaveLength(steps.length);
          expect(decided).toEqual(arrived);
        },
      ),
      { numRuns: 60, seed: 20_261_121 },
    );
  });
});

describe("overload", () => {
  test("of one organization is 503 for that organization only: its 1,025th waiting request is refused, another organization's is not", async () => {
    const { queue, finish } = openQueue();
    const waiting = many(bounds.queued.each, () => item("org_loud")).map((one) => queue.submit(one));
    const answer = await queue.submit(item("org_loud"));
    expect(answer.kind === "problem" && [answer.problem.code, answer.problem.details.retryAfterSeconds]).toEqual([
      "overloaded",
      1,
    ]);
    const other = queue.submit(item("org_quiet"));
    await finish();
    expect(inShort(await other)).toBe("allow");
    await Promise.all(waiting);
    const after = queue.submit(item("org_loud"));
    await finish();
    expect(inShort(await after)).toBe("allow");
  });

  test("of all is 503 for organizations with waiting requests from the 3,073rd on, and refused requests are never decided", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const room = bounds.queued.most - bounds.queued.kept;
    const submitted = Array.from({ length: room + 100 }, (_, at) => item(`org_${at % 8}`));
    const answers = submitted.map((one) => queue.submit(one));
    expect(queue.depth).toBe(room);
    const run: string[] = [];
    for (await turn(); batches.length > 0; await turn()) {
      run.push(...batches[0]!.items.map(({ slot }) => slot));
      batches[0]!.end();
    }
    await finish();
    const codes = (await Promise.all(answers)).map(inShort);
    expect(codes.slice(room)).toEqual(Array.from({ length: 100 }, () => "overloaded"));
    expect(run.toSorted()).toEqual(
      submitted
        .slice(0, room)
        .map(({ slot }) => slot)
        .toSorted(),
    );
  });

  test("caused by four organizations does not fill the queue: a request of another one is decided in the next batch", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const loud = Array.from({ length: 4 * bounds.queued.each }, (_, at) => queue.submit(item(`org_loud_${at % 4}`)));
    const quiet = item("org_quiet");
    const answer = queue.submit(quiet);
    expect(queue.depth).toBeLessThanOrEqual(bounds.queued.most);
    await turn();
    expect(batches.some(({ items }) => items.includes(quiet))).toBe(true);
    await finish();
    expect(inShort(await answer)).toBe("allow");
    await Promise.all(loud);
  });

  test("refuses requests that waited for more than five seconds with a 503, and decides the others", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { queue, batches, turn, finish } = openQueue();
    const open = queue.submit(item());
    await turn();
    const old = many(3, () => item()).map((one) => queue.submit(one));
    vi.advanceTimersByTime(bounds.ageMs - 1);
    const young = queue.submit(item());
    vi.advanceTimersByTime(2);
    batches[0]!.end();
    await turn();
    expect(batches[0]!.items).toHaveLength(1);
    await finish();
    expect((await Promise.all(old)).map(inShort)).toEqual(["overloaded", "overloaded", "overloaded"]);
    expect([inShort(await open), inShort(await young), queue.depth]).toEqual(["allow", "allow", 0]);
  });
});

describe("equal requests at the same time", () => {
  test("wait for the answer of the first; another body is refused, and a later repeat is decided separately", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const one = item();
    const answers = [queue.submit(one), queue.submit({ ...one }), queue.submit({ ...one, fingerprint: "other" })];
    await turn();
    expect(batches.flatMap(({ items }) => items)).toHaveLength(1);
    await finish();
    const [first, twin, other] = await Promise.all(answers);
    expect(first).toMatchObject({ kind: "reply", replayed: false });
    expect(twin).toEqual({ ...first, replayed: true });
    expect(inShort(other!)).toBe("idempotency_key_reused");
    const repeat = queue.submit({ ...one });
    await turn();
    expect(batches).toHaveLength(1);
    await finish();
    await repeat;
  });

  test("get the same error if their batch fails, and the queue continues", async () => {
    const { queue, batches, turn, finish } = openQueue();
    const one = item();
    const answers = Promise.allSettled([queue.submit(one), queue.submit({ ...one })]);
    await turn();
    batches[0]!.end(new Error("broken"));
    expect((await answers).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const next = queue.submit(item());
    await finish();
    expect(inShort(await next)).toBe("allow");
  });
});

describe("the promise of drained", () => {
  test("resolves when nothing waits and no batch is open", async () => {
    const { queue, batches, turn, finish } = openQueue();
    await queue.drained();
    const answers = many(bounds.itemsPerBatch + 1, () => item()).map((one) => queue.submit(one));
    let drained = false;
    const done = queue.drained().then(() => (drained = true));
    await turn();
    batches[0]!.end();
    await turn();
    expect([drained, batches.length]).toEqual([false, 1]);
    await finish();
    await done;
    await Promise.all(answers);
  });
});
