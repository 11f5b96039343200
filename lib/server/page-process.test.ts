import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { PageProcess, type PageProcessOptions } from "#lib/server/page-process.ts";
import { buildPages } from "#lib/server/build.ts";
import { useDatabase } from "#test/database.ts";

const database = useDatabase();
let pages: PageProcess | null = null;

beforeAll(() => buildPages(() => {}), 240_000);
afterEach(() => pages?.end());

const start = (options: Partial<PageProcessOptions>): PageProcess =>
  (pages = new PageProcess({ memoryMiB: 768, environment: { ...process.env, DATABASE_URL: database().url }, ...options }));

describe("PageProcess", { timeout: 60_000 }, () => {
  test("replaces a process that uses too much memory, and serves pages all the time", async () => {
    const growing = start({ memoryMiB: 64, wellMs: 500 });
    expect(await growing.server(20_000)).not.toBeNull();
    const first = growing.pid;
    await expect
      .poll(
        async () => {
          expect(await growing.server(0)).not.toBeNull();
          return growing.pid;
        },
        { interval: 20, timeout: 20_000 },
      )
      .not.toBe(first);
  });

  test("ends a process that hangs, and starts another one", async () => {
    const hanging = start({ silenceMs: 3_000 });
    await hanging.server(20_000);
    const first = hanging.pid!;
    process.kill(first, "SIGSTOP");
    await expect.poll(() => hanging.up, { timeout: 10_000 }).toBe(false);
    expect(await hanging.server(20_000)).not.toBeNull();
    expect(hanging.pid).not.toBe(first);
  });

  test("if no process starts, callers wait no longer than the limit", async () => {
    const failing = start({ environment: { ...process.env, NODE_OPTIONS: "--require ./missing.cjs" } });
    const began = performance.now();
    expect(await failing.server(1_500)).toBeNull();
    expect(performance.now() - began).toBeLessThan(2_500);
    expect(failing.up).toBe(false);
    await failing.end();
    expect(await failing.server(1_500)).toBeNull();
  });
});
