import type { LookupAddress } from "node:dns";
import type { IncomingHttpHeaders } from "node:http";
import { Pool, type Dispatcher } from "undici";
import {
  connectionOptions,
  joinedHeaders,
  NoAnswer,
  type OutboundLimits,
  type OutboundReply,
  type OutboundRequest,
} from "#lib/outbound/outbound-request.ts";

export type KeptLimits = {
  /** The maximum number of connections in a pool, which one user (such as a webhook endpoint) has for an origin. */
  readonly each: number;
  /** Maximum of pairs of a user and an origin. Above it, the connections of the pair that was unused for longest are closed. */
  readonly pairs: number;
  /** Milliseconds after which the addresses of an origin are looked up and checked again. */
  readonly lifeMs: number;
};

type Kept = { readonly pool: Promise<Pool>; readonly until: number };

/** Idle connections are closed before a Node.js server closes them, by default after five seconds. */
const IDLE_MS = 4_000;

/** Users do not share connections, which lead only to addresses that were checked when the origin's name was looked up. */
export class KeptConnections {
  readonly #kept = new Map<string, Kept>();
  readonly #limits: KeptLimits & OutboundLimits;

  constructor(limits: KeptLimits & OutboundLimits) {
    this.#limits = limits;
  }

  /** `look` looks up the origin's addresses and checks them. @throws what `look` throws */
  async to(user: string, origin: string, look: () => Promise<readonly LookupAddress[]>): Promise<Pool> {
    const now = performance.now();
    const name = `${user} ${origin}`;
    const old = this.#kept.get(name);
    this.#kept.delete(name);
    if (old && old.until > now) {
      this.#kept.set(name, old);
      return old.pool;
    }
    if (old) close(old);
    const { each: connections, lifeMs, pairs } = this.#limits;
    const pool = look().then(
      (addresses) =>
        new Pool(origin, {
          ...connectionOptions(addresses, this.#limits),
          connections,
          pipelining: 1,
          keepAliveTimeout: IDLE_MS,
        }),
    );
    const kept = { pool, until: now + lifeMs };
    this.#kept.set(name, kept);
    if (this.#kept.size > pairs) {
      const [[least, oldest]] = this.#kept as unknown as [[string, Kept]];
      this.#kept.delete(least);
      close(oldest);
    }
    try {
      return await pool;
    } catch (error) {
      if (this.#kept.get(name) === kept) this.#kept.delete(name);
      throw error;
    }
  }
}

/** Closes each connection when its requests have ended. */
const close = ({ pool }: Kept): void => void pool.then((one) => one.close()).catch(() => {});

/** If a body has more bytes, the rest is not read and the connection is closed. */
const READ_MAX = 65_536;
const LATE = "sent its answer too slowly";

class Collector implements Dispatcher.DispatchHandler {
  readonly #limits: OutboundLimits;
  readonly #settle: (reply: OutboundReply) => void;
  readonly #fail: (error: Error) => void;
  readonly #chunks: Uint8Array[] = [];
  #head: Pick<OutboundReply, "status" | "headers"> | null = null;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: OutboundLimits, settle: (reply: OutboundReply) => void, fail: (error: Error) => void) {
    this.#limits = limits;
    this.#settle = settle;
    this.#fail = fail;
  }

  /** undici's own limit for the headers begins again with each informational answer. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#abortAfter(this.#limits.headersMs, controller);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Informational answers (status 1xx) come before the final answer.
    if (status < 200) return;
    this.#head = { status, headers: joinedHeaders(headers) };
    this.#abortAfter(this.#limits.bodyMs, controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#size < this.#limits.bodyBytes) this.#chunks.push(Buffer.from(chunk));
    this.#size += chunk.byteLength;
    if (this.#size > READ_MAX) controller.abort(new Error("The body is too long."));
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer);
    if (this.#head) this.#end(this.#size > READ_MAX ? null : error.message === LATE ? LATE : "broke off its answer");
    else this.#fail(error);
  }

  #abortAfter(milliseconds: number, controller: Dispatcher.DispatchController): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => controller.abort(new Error(LATE)), milliseconds);
  }

  #end(fault: string | null): void {
    clearTimeout(this.#timer);
    const body = fault === null ? Buffer.concat(this.#chunks).subarray(0, this.#limits.bodyBytes) : null;
    this.#settle({ ...this.#head!, body, fault });
  }
}

type Failure = Error & { readonly code?: string; readonly syscall?: string };

/** The server may have closed an idle connection before it got the request. */
const isStale = ({ code }: Failure): boolean => code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";

const isUnsent = ({ code, syscall }: Failure): boolean =>
  code === "UND_ERR_CONNECT_TIMEOUT" || code === "ECONNREFUSED" || syscall === "connect";

/** If the connection breaks before an answer, the request is sent once more, so it may arrive twice. @throws NoAnswer */
export async function sendKept(pool: Pool, { url, method, headers, body }: Sent, limits: OutboundLimits): Promise<OutboundReply> {
  const options = { path: `${url.pathname}${url.search}`, method, headers, body: body ?? null };
  const send = () => new Promise<OutboundReply>((settle, fail) => pool.dispatch(options, new Collector(limits, settle, fail)));
  try {
    return await send().catch((error: Failure) => {
      if (!isStale(error)) throw error;
      return send();
    });
  } catch (error) {
    throw new NoAnswer((error as Failure).message, !isUnsent(error as Failure));
  }
}

type Sent = Omit<OutboundRequest, "addresses">;
