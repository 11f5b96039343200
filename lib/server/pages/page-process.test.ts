import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { PageProcess, type PageProcessOptions } from "#lib/server/pages/page-process.ts";
import { buildPages } from "#lib/server/build.ts";
import { useDatabase } from "#test/database.ts";
import { captureLog } from "#test/logged.ts";
import { RUN_MS } from "#test/run-time.ts";

const database = useDatabase();
const logged = captureLog();
let pages: PageProcess | null = null;

beforeAll(() => buildPages(() => {}));
afterEach(async () => {
  await pages?.end();
  logged.length = 0;
});

const start = (options: Partial<PageProcessOptions>): PageProcess =>
  (pages = new PageProcess({ memoryMiB: 768, environment: { ...process.env, DATABASE_URL: database().url }, ...options }));

/** Starts test/helpers/starting-process.ts in place of the pages. */
const startSlowly = (variables: Record<string, string>, options: Partial<PageProcessOptions> = {}): PageProcess =>
  start({ program: "test/helpers/starting-process.ts", environment: { ...process.env, ...variables }, ...options });

const ends = () => logged.filter(({ message }) => message === "The pages process ended and is started again");

describe("PageProcess", () => {
  test("a start is not ended by the clock, however long it takes, while it has CPU time left", async () => {
    const slow = startSlowly({ WAIT_MS: "4000" }, { start: { cpuMs: 2_000, idleMs: 60_000 } });
    expect(await slow.server(RUN_MS)).toMatchObject({ port: 1 });
    expect(ends()).toEqual([]);
  });

  test("a start is ended after its CPU time, the next one has more, and the log says who ended it and why", async () => {
    startSlowly({ COMPUTE: "yes" }, { start: { cpuMs: 200, idleMs: 60_000 }, wellMs: 0 });
    await expect.poll(() => ends().length, { timeout: RUN_MS }).toBe(3);
    const [first, second, third] = ends();
    expect(first).toMatchObject({ how: "SIGKILL", endedBy: "this process", listened: false, failures: 1, againInMs: 500 });
    expect(first!["why"]).toMatch(/^It sent nothing while it used \d+ ms of CPU time; the limit is 200 ms\.$/);
    expect(second!["why"]).toMatch(/the limit is 400 ms\.$/);
    expect(third).toMatchObject({ failures: 3, againInMs: 2_000 });
    expect(third!["why"]).toMatch(/the limit is 800 ms\.$/);
  });

  test("a start that does nothing is ended", async () => {
    startSlowly({ WAIT_MS: "never" }, { start: { cpuMs: 60_000, idleMs: 1_500 } });
    await expect.poll(() => ends().length, { timeout: RUN_MS }).toBe(1);
    expect(ends()[0]!["why"]).toBe("It sent nothing and used no CPU time for 1500 ms.");
  });

  test("the log says that a process ended itself, or that a signal from elsewhere ended it", async () => {
    const slow = startSlowly({ WAIT_MS: "0" });
    await slow.server(RUN_MS);
    process.kill(slow.pid!, "SIGKILL");
    await expect.poll(() => ends().length, { timeout: RUN_MS }).toBe(1);
    expect(ends()[0]).toMatchObject({ how: "SIGKILL", endedBy: "a signal from elsewhere", why: null, listened: true });
    await slow.end();
    startSlowly({ NODE_OPTIONS: "--require ./missing.cjs" });
    await expect.poll(() => ends().length, { timeout: RUN_MS }).toBeGreaterThan(1);
    expect(ends()[1]).toMatchObject({ how: 1, endedBy: "itself", why: null, listened: false });
  });

  test("replaces a process that uses too much memory, and serves pages all the time", async () => {
    const growing = start({ memoryMiB: 64, wellMs: 500 });
    expect(await growing.server(RUN_MS)).not.toBeNull();
    const first = growing.pid;
    await expect
      .poll(
        async () => {
          expect(await growing.server(0)).not.toBeNull();
          return growing.pid;
        },
        { interval: 20, timeout: RUN_MS },
      )
      .not.toBe(first);
  });

  test("ends a process that hangs, and starts another one", async () => {
    const hanging = start({ silence: { cpuMs: 30_000, idleMs: 10_000 } });
    await hanging.server(RUN_MS);
    const first = hanging.pid!;
    process.kill(first, "SIGSTOP");
    await expect.poll(() => hanging.up, { timeout: RUN_MS }).toBe(false);
    expect(await hanging.server(RUN_MS)).not.toBeNull();
    expect(hanging.pid).not.toBe(first);
  });

  test("if no process starts, callers wait only until the limit, or until the end", async () => {
    const failing = startSlowly({ WAIT_MS: "never" });
    expect(await failing.server(500)).toBeNull();
    expect(failing.up).toBe(false);
    const waiting = failing.server(RUN_MS);
    await failing.end();
    expect(await waiting).toBeNull();
    expect(await failing.server(RUN_MS)).toBeNull();
  });
});
