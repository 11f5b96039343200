import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import type { Socket } from "node:net";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { StreamRequest } from "#lib/changes/stream-request.ts";
import { processHealth } from "#lib/health/process-health.ts";
import { home, isPackaged } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { ChildSilence, cpuMsOf, type Patience } from "#lib/server/pages/child-silence.ts";
import { DRAIN_MS, type FromPages, type FromParent } from "#lib/server/messages.ts";

export type PageServer = {
  readonly port: number;
  readonly secret: string;
  /** Files have connections of their own, or slow readers of files could take all connections of the pages. */
  readonly agents: { readonly pages: Agent; readonly files: Agent };
};

export type PageProcessOptions = {
  readonly memoryMiB: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly program?: string;
  readonly start?: Patience;
  readonly silence?: Patience;
  /**
   * A process that has listened for this time may be replaced for its memory, and if it ends, the next one starts after the
   * shortest pause.
   */
  readonly wellMs?: number;
};

type Child = {
  readonly process: ChildProcess;
  readonly secret: string;
  readonly since: number;
  readonly silence: ChildSilence;
  listensSince: number | null;
  server: PageServer | null;
  /** Why this process has killed the child. */
  killedFor: string | null;
};

const NICE = 10;
const HEAP_MIN_MIB = 128;
const BACK_OFF_MS = 250;
const BACK_OFF_MAX_MS = 30_000;
/** After failures a child gets more time, up to this many times the limits. */
const PATIENCE_MAX = 8;
const WATCH_MS = 1_000;
const CONNECTIONS = 64;
/** This many connections may wait to be sent, because Node sends them to a process one after another. */
const ON_THE_WAY_MAX = 256;

const standard = {
  program: isPackaged() ? join(home(), "pages.mjs") : "pages.ts",
  start: { cpuMs: 60_000, idleMs: 300_000 },
  silence: { cpuMs: 30_000, idleMs: 30_000 },
  wellMs: 60_000,
};

/** Restarts the process that renders the pages if it ends, stops sending messages or uses too much memory. */
export class PageProcess {
  readonly #options: Required<PageProcessOptions>;
  #current: Child | null = null;
  /** The child process that is starting and will replace #current. */
  #next: Child | null = null;
  #failures = 0;
  #rests = false;
  #ended = false;
  #onTheWay = 0;
  #waiting = new Set<(server: PageServer | null) => void>();
  readonly #living = new Set<Child>();
  readonly #watch: NodeJS.Timeout;
  #watchedAt = performance.now();

  constructor(options: PageProcessOptions) {
    this.#options = { ...standard, ...options };
    this.#start();
    // A child process that hangs does not notice that this process has ended, so kill it.
    process.once("exit", this.#killAll);
    this.#watch = setInterval(() => this.#endSilent(), WATCH_MS);
  }

  get up(): boolean {
    return this.#current !== null;
  }

  /** True while no process has become well since the last one failed. */
  get fails(): boolean {
    return this.#failures > 0;
  }

  get pid(): number | undefined {
    return this.#current?.process.pid;
  }

  /** Null if no process is ready within `limitMs`; after end() it does not wait. */
  async server(limitMs: number): Promise<PageServer | null> {
    if (this.#current) return this.#current.server;
    if (this.#ended) return null;
    const { promise, resolve } = Promise.withResolvers<PageServer | null>();
    const timer = setTimeout(resolve, limitMs, null);
    this.#waiting.add(resolve);
    const server = await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
    return server;
  }

  /** False if the pages process cannot take the connection now. */
  giveStream(socket: Socket, request: StreamRequest): boolean {
    const child = this.#current?.process;
    if (!child?.connected || this.#onTheWay >= ON_THE_WAY_MAX) return false;
    this.#onTheWay += 1;
    // Detach the socket, or this process's server counts the connection until the pages process closes it.
    Reflect.set(socket, "server", null);
    const message: FromParent = { type: "stream", request };
    child.send(message, socket, {}, () => {
      this.#onTheWay -= 1;
      socket.destroy();
    });
    return true;
  }

  readonly #killAll = (): void => {
    for (const { process } of this.#living) process.kill("SIGKILL");
  };

  async end(): Promise<void> {
    this.#ended = true;
    clearInterval(this.#watch);
    for (const resolve of this.#waiting) resolve(null);
    await Promise.all([...this.#living].map((child) => this.#endOne(child)));
    process.removeListener("exit", this.#killAll);
  }

  #start(): void {
    const { memoryMiB, environment, program } = this.#options;
    const secret = randomBytes(32).toString("base64url");
    const forked = fork(program, [], {
      env: environment,
      execArgv: [`--max-old-space-size=${Math.max(HEAP_MIN_MIB, Math.ceil(memoryMiB / 2))}`],
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const since = performance.now();
    const silence = new ChildSilence();
    const child: Child = { process: forked, secret, since, silence, listensSince: null, server: null, killedFor: null };
    this.#next = child;
    this.#living.add(child);
    forked.on("message", (message) => this.#hear(child, message as FromPages));
    forked.once("error", (error) => log().error({ error }, "The pages process could not be started"));
    forked.once("close", (code, signal) => this.#gone(child, code ?? signal));
    tell(child, { type: "begin", secret });
    try {
      // Payment decisions are more important than the rendering of pages.
      if (forked.pid !== undefined) setPriority(forked.pid, NICE);
    } catch (error) {
      log().warn({ error }, "The pages process runs at the usual priority");
    }
  }

  #hear(child: Child, message: FromPages): void {
    child.silence.heard();
    if (message.type === "listening") {
      child.listensSince = performance.now();
      const agent = () => new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS });
      child.server = { port: message.port, secret: child.secret, agents: { pages: agent(), files: agent() } };
      this.#take(child);
    }
    if (message.type === "alive" && message.residentBytes > this.#options.memoryMiB * 2 ** 20) this.#replace(child);
    if (message.type === "health") void answerHealth(child, message.id);
  }

  #take(child: Child): void {
    const before = this.#current;
    this.#current = child;
    this.#next = null;
    metrics().pagesUp.set(1);
    for (const resolve of this.#waiting) resolve(child.server);
    if (before) void this.#endOne(before);
  }

  #isWell({ listensSince }: Child): boolean {
    return listensSince !== null && performance.now() - listensSince >= this.#options.wellMs;
  }

  /** A process that grew soon after its start is kept, because the next one would soon use as much memory. */
  #replace(child: Child): void {
    if (child !== this.#current || this.#next !== null || this.#rests || !this.#isWell(child) || this.#ended) return;
    log().warn({ memoryMiB: this.#options.memoryMiB }, "The pages process has grown and is replaced");
    metrics().pagesRestarts.inc({ reason: "memory" });
    this.#start();
  }

  #gone(child: Child, how: number | string | null): void {
    this.#living.delete(child);
    for (const agent of Object.values(child.server?.agents ?? {})) agent.destroy();
    const wanted = child === this.#current || child === this.#next;
    if (child === this.#next) this.#next = null;
    if (child === this.#current) {
      this.#current = null;
      metrics().pagesUp.set(0);
    }
    if (!wanted || this.#ended) return;
    metrics().pagesRestarts.inc({ reason: "ended" });
    void this.#startAgain(child, how);
  }

  async #startAgain(child: Child, how: number | string | null): Promise<void> {
    this.#failures = this.#isWell(child) ? 0 : this.#failures + 1;
    const againInMs = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** this.#failures);
    log().error({ ...account(child, how), failures: this.#failures, againInMs }, "The pages process ended and is started again");
    this.#rests = true;
    await pause(againInMs, undefined, { ref: false });
    this.#rests = false;
    if (!this.#ended && this.#next === null) this.#start();
  }

  #patience({ server }: Child): Patience {
    const { cpuMs, idleMs } = server === null ? this.#options.start : this.#options.silence;
    const times = Math.min(PATIENCE_MAX, 2 ** this.#failures);
    return { cpuMs: cpuMs * times, idleMs: idleMs * times };
  }

  #endSilent(): void {
    const now = performance.now();
    // While this process itself did not run, the messages of its children could not be read.
    const passedMs = Math.min(now - this.#watchedAt, 2 * WATCH_MS);
    this.#watchedAt = now;
    for (const child of this.#living) {
      child.killedFor ??= child.silence.overdue(cpuMsOf(child.process.pid), passedMs, this.#patience(child));
      if (child.killedFor !== null) child.process.kill("SIGKILL");
    }
  }

  async #endOne(child: Child): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (child.process.exitCode !== null || child.process.signalCode !== null) return;
    child.process.once("exit", () => resolve());
    tell(child, { type: "end" });
    const late = setTimeout(() => child.process.kill("SIGKILL"), DRAIN_MS + 1_000);
    await promise;
    clearTimeout(late);
  }
}

/** Who ended a child, and why, for the log. */
function account({ killedFor, since, silence, listensSince }: Child, how: number | string | null) {
  const endedBy = killedFor !== null ? "this process" : typeof how === "string" ? "a signal from elsewhere" : "itself";
  const livedMs = Math.round(performance.now() - since);
  return { how, endedBy, why: killedFor, listened: listensSince !== null, livedMs, cpuMs: silence.cpuMs };
}

/** Does nothing if the channel to the process is closed; the "close" listener handles the end of the process. */
function tell({ process }: Child, message: FromParent): void {
  if (process.connected) process.send(message, () => {});
}

async function answerHealth(child: Child, id: number): Promise<void> {
  const health = await processHealth().catch((error: unknown) => {
    log().warn({ error }, "The health of this process could not be told");
    return null;
  });
  tell(child, { type: "health", id, health });
}
