import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import type { Socket } from "node:net";
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { StreamRequest } from "#lib/changes/stream-request.ts";
import { processHealth } from "#lib/health/process-health.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { DRAIN_MS, type FromPages, type FromParent } from "#lib/server/messages.ts";

export type PageServer = { readonly port: number; readonly secret: string; readonly agent: Agent };

export type PageProcessOptions = {
  readonly memoryMiB: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly startMs?: number;
  readonly silenceMs?: number;
  /** After this time a process may be replaced for its memory, and if it ends, the next one starts after the shortest pause. */
  readonly wellMs?: number;
};

type Child = {
  readonly process: ChildProcess;
  readonly secret: string;
  readonly since: number;
  heardAt: number;
  server: PageServer | null;
};

const NICE = 10;
const HEAP_MIN_MIB = 128;
const BACK_OFF_MS = 250;
const BACK_OFF_MAX_MS = 30_000;
const CONNECTIONS = 64;
/** This many connections may wait to be sent, because Node sends them to a process one after another. */
const ON_THE_WAY_MAX = 256;

/** Restarts the process that renders the pages if it ends, stops sending messages or uses too much memory. */
export class PageProcess {
  readonly #options: Required<PageProcessOptions>;
  #current: Child | null = null;
  /** The child process that is starting and will replace #current. */
  #next: Child | null = null;
  #failures = 0;
  #ended = false;
  #onTheWay = 0;
  #waiting = new Set<(server: PageServer | null) => void>();
  readonly #living = new Set<Child>();
  readonly #watch: NodeJS.Timeout;

  constructor(options: PageProcessOptions) {
    this.#options = { startMs: 60_000, silenceMs: 30_000, wellMs: 60_000, ...options };
    this.#start();
    // A child process that hangs does not notice that this process has ended, so kill it.
    process.once("exit", this.#killAll);
    this.#watch = setInterval(() => this.#endSilent(), 1_000);
  }

  get up(): boolean {
    return this.#current !== null;
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
    const { memoryMiB, environment } = this.#options;
    const secret = randomBytes(32).toString("base64url");
    const forked = fork("pages.ts", [], {
      env: environment,
      execArgv: [`--max-old-space-size=${Math.max(HEAP_MIN_MIB, Math.ceil(memoryMiB / 2))}`],
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const now = performance.now();
    const child: Child = { process: forked, secret, since: now, heardAt: now, server: null };
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
    child.heardAt = performance.now();
    if (message.type === "listening") {
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS });
      child.server = { port: message.port, secret: child.secret, agent };
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

  /** A process that grew soon after its start is kept, because the next one would soon use as much memory. */
  #replace(child: Child): void {
    const young = performance.now() - child.since < this.#options.wellMs;
    if (child !== this.#current || this.#next !== null || young || this.#ended) return;
    log().warn({ memoryMiB: this.#options.memoryMiB }, "The pages process has grown and is replaced");
    metrics().pagesRestarts.inc({ reason: "memory" });
    this.#start();
  }

  #gone(child: Child, how: number | string | null): void {
    this.#living.delete(child);
    child.server?.agent.destroy();
    const wanted = child === this.#current || child === this.#next;
    if (child === this.#next) this.#next = null;
    if (child === this.#current) {
      this.#current = null;
      metrics().pagesUp.set(0);
    }
    if (!wanted || this.#ended) return;
    log().error({ how }, "The pages process ended and is started again");
    metrics().pagesRestarts.inc({ reason: "ended" });
    void this.#startAgain(performance.now() - child.since >= this.#options.wellMs);
  }

  async #startAgain(wasWell: boolean): Promise<void> {
    this.#failures = wasWell ? 0 : this.#failures + 1;
    await pause(Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** this.#failures), undefined, { ref: false });
    if (!this.#ended && this.#next === null) this.#start();
  }

  #endSilent(): void {
    const { startMs, silenceMs } = this.#options;
    for (const child of this.#living) {
      const limit = child.server === null ? startMs : silenceMs;
      if (performance.now() - child.heardAt > limit) child.process.kill("SIGKILL");
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
