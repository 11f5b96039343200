import { gzipSync } from "node:zlib";
import type { Page, Response } from "@playwright/test";

export type PageWeight = {
  /** The size of all scripts that the page loads by itself, compressed with gzip, in kilobytes of 1,000 bytes. */
  readonly scriptKb: number;
  /** The sum of all layout shifts that no user input caused. */
  readonly shift: number;
};

/**
 * After this many milliseconds without a new script, all scripts count as loaded. Some load after the page, when the browser has
 * nothing else to do.
 */
const QUIET_MS = 2_000;

type Shift = PerformanceEntry & { readonly value: number; readonly hadRecentInput: boolean };

/** Resolves when no script has arrived for QUIET_MS. */
const scriptsLoaded = (page: Page) =>
  page.evaluate(
    (quietMs) =>
      new Promise<void>((resolve) => {
        const look = () => {
          const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
          const loads = entries.filter(
            ({ entryType, name }) => entryType === "navigation" || new URL(name).pathname.endsWith(".js"),
          );
          const last = Math.max(...loads.map(({ startTime, duration }) => startTime + duration));
          if (performance.now() - last > quietMs) resolve();
          else setTimeout(look, 100);
        };
        look();
      }),
    QUIET_MS,
  );

/** Opens a page and measures its scripts and its layout shift. The sizes do not depend on the encoding that the server chose. */
export async function weigh(page: Page, url: string): Promise<PageWeight> {
  const scripts = new Map<string, Promise<number>>();
  const note = (response: Response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.endsWith(".js") || response.status() !== 200) return;
    scripts.set(
      pathname,
      response.body().then(
        (body) => gzipSync(body).length,
        () => 0,
      ),
    );
  };
  page.on("response", note);
  await page.goto(url, { waitUntil: "load" });
  await scriptsLoaded(page);
  page.off("response", note);
  const shift = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          const shifts = list.getEntries() as Shift[];
          resolve(shifts.reduce((sum, { value, hadRecentInput }) => (hadRecentInput ? sum : sum + value), 0));
        }).observe({ type: "layout-shift", buffered: true });
        // If there is no shift, the observer is not called, so end after 200 ms.
        setTimeout(resolve, 200, 0);
      }),
  );
  const bytes = (await Promise.all(scripts.values())).reduce((sum, size) => sum + size, 0);
  return { scriptKb: bytes / 1_000, shift };
}
