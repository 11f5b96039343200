import type { IncomingMessage, ServerResponse } from "node:http";
import { acceptsGzip } from "#lib/server/handover.ts";

type CacheEntry = {
  readonly at: number;
  readonly until: number;
  readonly headers: readonly string[];
  readonly etag: string | null;
  readonly body: Buffer;
};

const DOCUMENT_MAX = 1 << 20;
const TOTAL_MAX = 24 << 20;

/** For how many seconds the reply may be sent to everybody; 0 for never. */
function sharedFor({ statusCode, headers }: IncomingMessage): number {
  const control = headers["cache-control"] ?? "";
  const varies = /\*|cookie|authorization/i.test(headers.vary ?? "");
  if (statusCode !== 200 || headers["set-cookie"] || varies || !/\bpublic\b/.test(control)) return 0;
  return Number(/\bmax-age=(\d{1,9})\b/.exec(control)?.[1] ?? 0);
}

/** Caches public replies of the pages process. URLs with a query are not cached, as a client can make any number of them. */
export class KeptDocuments {
  readonly #kept = new Map<string, CacheEntry>();
  #bytes = 0;

  #keyOf(incoming: IncomingMessage): string | null {
    const { url = "", headers } = incoming;
    if (url.includes("?") || headers.range !== undefined || headers["rsc"] !== undefined) return null;
    return `${acceptsGzip(incoming) ? "gzip" : "plain"} ${url}`;
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.body.length ?? 0;
    this.#kept.delete(key);
  }

  has(incoming: IncomingMessage): boolean {
    const key = this.#keyOf(incoming);
    return key !== null && this.#kept.has(key);
  }

  answer(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const key = this.#keyOf(incoming);
    const kept = key === null ? undefined : this.#kept.get(key);
    if (key === null || !kept) return false;
    const now = performance.now();
    if (now >= kept.until) {
      this.#drop(key);
      return false;
    }
    const headers = [...kept.headers, "Age", String(Math.floor((now - kept.at) / 1_000))];
    if (kept.etag !== null && incoming.headers["if-none-match"] === kept.etag) outgoing.writeHead(304, headers).end();
    else {
      headers.push("Content-Length", String(kept.body.length));
      outgoing.writeHead(200, headers).end(incoming.method === "HEAD" ? undefined : kept.body);
    }
    return true;
  }

  keep(incoming: IncomingMessage, reply: IncomingMessage, headers: readonly string[]): void {
    const key = this.#keyOf(incoming);
    const seconds = sharedFor(reply);
    if (key === null || seconds === 0 || incoming.method !== "GET") return;
    const chunks: Buffer[] = [];
    let length = 0;
    reply.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= DOCUMENT_MAX) chunks.push(chunk);
      else chunks.length = 0;
    });
    reply.once("end", () => {
      if (length > DOCUMENT_MAX || !reply.complete) return;
      const at = performance.now();
      const own = headers.filter((_, index) => !/^(?:content-length|date|age)$/i.test(headers[index - (index % 2)]!));
      this.#drop(key);
      this.#kept.set(key, {
        at,
        until: at + seconds * 1_000,
        headers: own,
        etag: reply.headers.etag ?? null,
        body: Buffer.concat(chunks),
      });
      this.#bytes += length;
      for (const oldest of this.#kept.keys()) {
        if (this.#bytes <= TOTAL_MAX) break;
        this.#drop(oldest);
      }
    });
  }
}
