/**
 * The program of `npm start` and `npm run dev`. It builds what is missing, in a sandbox also what is out of date, and then serves.
 * In development it builds nothing.
 */
import "#lib/installation/node-env.ts";
import { toldCauses } from "#lib/db/failure.ts";
import { buildPages, buildServer } from "#lib/server/build.ts";
import type { Pages } from "#lib/server/open-pages.ts";
import type { serve as Serve } from "#lib/server/entry.ts";

const development = process.argv.includes("--dev");
const apiOnly = process.argv.includes("--api");
const say = (line: string): void => console.error(`countersign: ${line}`);

/** Loads Next.js into this process, in development only. Otherwise another process (pages.ts) renders, unless --api is given. */
async function loadPages(port: number): Promise<Pages> {
  const { default: next } = await import("next");
  const app = next({ dev: true, port, customServer: true });
  await app.prepare();
  return { handle: app.getRequestHandler(), close: () => app.close() };
}

async function main(): Promise<void> {
  const when = process.env["ENVIRONMENT"] === "production" ? "missing" : "outdated";
  if (!development && !apiOnly) await buildPages(say, when);
  // In development the sources run. Otherwise one bundled file runs, which starts faster.
  const built = development ? "#lib/server/entry.ts" : await buildServer(say, when);
  const { serve } = (await import(built)) as { readonly serve: typeof Serve };
  const pages = development ? loadPages : "another process";
  await serve({ development, pages: apiOnly ? null : pages, say });
}

await main().catch((error: unknown) => {
  say(toldCauses(error));
  process.exit(1);
});
