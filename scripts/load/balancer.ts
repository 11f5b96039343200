import { randomUUID } from "node:crypto";
import { Agent, createServer, request, type IncomingHttpHeaders, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A process of a release. */
export type Backend = { readonly url: string; readonly version: string };

/** A request as a client sent it, and its answer. */
export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly reply: Reply;
};

type Reply = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer; readonly version: string };

/** Names the version of the process that has answered. */
export const ANSWERED_BY = "x-answered-by";
const UNAVAILABLE = 503;
/** Headers that a message on another connection does not have. */
export const OF_A_CONNECTION = new Set(["connection", "content-length", "host", "keep-alive", "transfer-encoding"]);

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Sends requests to the processes in turn, and to the next one if a process refuses the connection or answers 503, as a load balancer
 * does. Without an answer of any process it answers 503 itself.
 */
export class Balancer {
  /** The processes that get requests. */
  backends: readonly Backend[] = [];
  /** What was answered; null if nobody wants to know. While it is recorded, commands without an idempotency key get one. */
  recorded: Exchange[] | null = null;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server: Server;
  #turn = 0;

  private constructor() {
    this.#server = createServer((incoming, outgoing) => {
      void this.#answer(incoming).then((reply) => {
        if (reply === null) return outgoing.writeHead(UNAVAILABLE).end();
        const headers = Object.entries(reply.headers).filter(([name]) => !OF_A_CONNECTION.has(name));
        outgoing.writeHead(reply.status, { ...Object.fromEntries(headers), [ANSWERED_BY]: reply.version }).end(reply.body);
      });
    });
  }

  static async open(): Promise<Balancer> {
    const balancer = new Balancer();
    await new Promise<void>((resolve) => balancer.#server.listen(0, "127.0.0.1", resolve));
    return balancer;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage): Promise<Reply | null> {
    const body = await bytesOf(incoming);
    const { method = "GET", url: path = "/", headers } = incoming;
    const isKeyed = method === "GET" || !path.startsWith("/api/v1/") || body.includes('"idempotencyKey"');
    if (this.recorded && !isKeyed) headers["idempotency-key"] ??= randomUUID();
    let last: Reply | null = null;
    const turn = this.#turn++;
    const backends = this.backends;
    for (let tried = 0; tried < backends.length && (last === null || last.status === UNAVAILABLE); tried += 1)
      last = (await this.#forward(backends[(turn + tried) % backends.length]!, incoming, body).catch(() => null)) ?? last;
    if (last) this.recorded?.push({ method, path, headers, body, reply: last });
    return last;
  }

  #forward({ url, version }: Backend, { method, url: path = "/", headers }: IncomingMessage, body: Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, method, headers: { ...headers, connection: "keep-alive" } };
      const outgoing = request(new URL(path, url), options, (reply) => {
        bytesOf(reply).then(
          (bytes) => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: bytes, version }),
          reject,
        );
      });
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  }
}
