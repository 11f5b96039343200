import type { IncomingMessage, ServerResponse } from "node:http";
import type { Env } from "#lib/env.ts";
import { watchPages } from "#lib/health/lifecycle.ts";
import { noteLocal } from "#lib/http/local-request.ts";
import { log } from "#lib/telemetry/log.ts";
import { PageProcess } from "#lib/server/pages/page-process.ts";
import { servePages } from "#lib/server/pages/serve-pages.ts";

export type Pages = {
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  close(): Promise<void>;
};

/** For additional processes behind a load balancer, and for tests. */
export const noPages: Pages = {
  handle: (_incoming, outgoing) => Promise.resolve(void outgoing.writeHead(404).end()),
  close: () => Promise.resolve(),
};

/**
 * Another process renders the pages, so that rendering does not delay a payment or an emergency stop. `others` are the first
 * segments of the paths that this process serves.
 */
export function pagesOfAnotherProcess(env: Env, others: ReadonlySet<string>): Pages {
  const pages = new PageProcess({
    memoryMiB: env.PAGES_MEMORY_MIB,
    environment: { ...process.env, DATABASE_POOL: String(env.DATABASE_POOL_PAGES) },
  });
  watchPages(() => pages.up);
  return { handle: servePages(pages, { perSecond: env.RATE_LIMIT_PAGES, others }), close: () => pages.end() };
}

/** Only for development: Next.js then also serves the API, and reloads open pages when the code changes. */
export function pagesOfThisProcess(load: () => Promise<Pages>): Pages {
  let loading: Promise<Pages> | undefined;
  return {
    async handle(incoming, outgoing) {
      noteLocal(incoming);
      try {
        await (await (loading ??= load())).handle(incoming, outgoing);
      } catch (error) {
        loading = undefined;
        log().error({ error }, "A page failed");
        if (!outgoing.headersSent) outgoing.writeHead(500).end();
      }
    },
    async close() {
      await (await loading)?.close();
    },
  };
}
