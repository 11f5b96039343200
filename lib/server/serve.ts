import { setTimeout } from "node:timers/promises";
import { endWaits } from "#lib/commerce/wait-for-checkout.ts";
import type { Env } from "#lib/env.ts";
import { noteStopping } from "#lib/health/lifecycle.ts";
import { startListener } from "#lib/server/listener.ts";
import { log } from "#lib/telemetry/log.ts";
import { flushKeyUses } from "#lib/identity/keys/key-uses.ts";
import { refuseOtherContracts } from "#lib/onchain/registry/deployments.ts";
import { tellUnreachableChains } from "#lib/chains/tell-unreachable.ts";
import { authorizeQueue } from "#lib/payments/authorize-payment.ts";
import { boot } from "#lib/server/boot/boot.ts";
import { untilDone } from "#lib/server/boot/start-steps.ts";
import { noPages, pagesOfAnotherProcess, pagesOfThisProcess, type Pages } from "#lib/server/open-pages.ts";
import { issueSetupCode } from "#lib/installation/setup-code.ts";
import type { Dispatch } from "#lib/server/dispatch.ts";
import { logPrimaries } from "#lib/server/watch-database.ts";
import { startWorkers } from "#lib/server/workers.ts";

const DRAIN_LIMIT_MS = 30_000;

export type ServeOptions = {
  readonly development: boolean;
  /** Who renders the pages: another process, this process with a function that loads them, or nobody. */
  readonly pages: "another process" | ((port: number) => Promise<Pages>) | null;
  readonly say: (line: string) => void;
  readonly dispatch: Dispatch;
};

function openPages({ pages, dispatch }: ServeOptions, env: Env): Pages {
  if (pages === null) return noPages;
  return pages === "another process" ? pagesOfAnotherProcess(env, dispatch.roots) : pagesOfThisProcess(() => pages(env.PORT));
}

const isTaken = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EADDRINUSE";

type Stop = (reason: string, code: number) => Promise<void>;

/** A signal or an uncaught error during the start takes effect only after the start. */
function listenForTheEnd(): { readonly isAsked: boolean; carryOut(stop: Stop): void } {
  let asked: readonly [reason: string, code: number] | null = null;
  let stop: Stop | null = null;
  const ask = (reason: string, code: number): void => {
    if (asked) return;
    asked = [reason, code];
    void stop?.(reason, code);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => ask(signal, 0));
  // Nobody reads the output any more, such as after `| head`; the service goes on without it.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      log().fatal({ error }, "The process is in an unknown state and stops");
      ask(event, 1);
    });
  }
  return {
    get isAsked() {
      return asked !== null;
    },
    carryOut(given) {
      stop = given;
      if (asked) void stop(...asked);
    },
  };
}

export async function serveWith(options: ServeOptions): Promise<void> {
  const { development, say, dispatch } = options;
  const began = performance.now();
  const end = listenForTheEnd();
  const steps = untilDone(say, () => end.isAsked);
  logPrimaries();
  const { env, close } = await boot(say, steps);
  await steps(refuseOtherContracts).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const pages = openPages(options, env);
  const secure = env.BASE_URL.startsWith("https://");
  const listener = await startListener({
    port: env.PORT,
    dispatch,
    nextServesApi: development,
    pages: pages.handle,
    headers: secure ? { "Strict-Transport-Security": "max-age=63072000; includeSubDomains" } : {},
  }).catch(async (error: unknown) => {
    // The timer also keeps this process running while the database closes.
    await Promise.race([pages.close().then(close), setTimeout(DRAIN_LIMIT_MS)]);
    throw isTaken(error) ? new Error(`Port ${env.PORT} is taken. Set PORT to another one.`, { cause: error }) : error;
  });
  const setupCode = await steps(() => issueSetupCode());
  if (setupCode) say(`one-time set-up code, for the first platform admin at ${env.BASE_URL}/claim: ${setupCode}`);
  const workers = startWorkers();
  say(`${env.ENVIRONMENT} on http://localhost:${listener.port} (ready in ${Math.round(performance.now() - began)} ms).`);
  tellUnreachableChains(say).catch((error: unknown) =>
    log().warn({ error }, "The chains could not be asked whether they answer"),
  );

  end.carryOut(async (reason, code) => {
    say(`${reason}: finishing what is under way.`);
    const delayMs = reason === "SIGTERM" ? env.SHUTDOWN_DELAY_MS : 0;
    const limit = globalThis.setTimeout(() => process.exit(1), delayMs + DRAIN_LIMIT_MS);
    noteStopping();
    listener.endKeepAlive();
    await setTimeout(delayMs);
    endWaits();
    const [complete] = await Promise.all([listener.drain(DRAIN_LIMIT_MS - 10_000), workers.stop()]);
    // Payments are still decided if their clients have closed the connection, so wait for the queue.
    await authorizeQueue().drained();
    await flushKeyUses().catch((error: unknown) => log().error({ error }, "The last uses of keys were not written"));
    await pages.close();
    await close();
    clearTimeout(limit);
    say(complete ? "Stopped." : "Stopped; some requests did not finish in time.");
    process.exit(complete ? code : 1);
  });
}
