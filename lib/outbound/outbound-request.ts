import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { Client, type Dispatcher } from "undici";

export type OutboundLimits = {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly bodyMs: number;
  readonly bodyBytes: number;
  /** Whether a longer body is cut. If not, its reply has a `fault`. */
  readonly cutsBody?: boolean;
  readonly headerBytes: number;
};

export type OutboundRequest = {
  readonly url: URL;
  /** The checked addresses: the connection uses only these, even if the name resolves to different addresses by now. */
  readonly addresses: readonly LookupAddress[];
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
};

export type OutboundReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the body was too long, too slow or incomplete; `fault` says which. */
  readonly body: Uint8Array | null;
  readonly fault: string | null;
};

/** The host sent no answer. `sent` tells whether the request may have reached the host. */
export class NoAnswer extends Error {
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.name = "NoAnswer";
    this.sent = sent;
  }
}

const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family);
  };

export const joinedHeaders = (headers: Dispatcher.ResponseData["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );

export const connectionOptions = (addresses: readonly LookupAddress[], limits: OutboundLimits) => ({
  connect: {
    rejectUnauthorized: true,
    lookup: pinned(addresses),
    timeout: limits.connectMs,
    autoSelectFamily: addresses.length > 1,
  },
  headersTimeout: limits.headersMs,
  bodyTimeout: limits.bodyMs,
  maxResponseSize: limits.cutsBody ? -1 : limits.bodyBytes,
  maxHeaderSize: limits.headerBytes,
  allowH2: false,
});

/** Limits the size and the total time of a body, even if the sender sends it slowly. */
async function readBody(
  body: Dispatcher.ResponseData["body"],
  { bodyMs, bodyBytes, cutsBody = false }: OutboundLimits,
): Promise<Pick<OutboundReply, "body" | "fault">> {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    body.destroy();
  }, bodyMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > bodyBytes && cutsBody) return { body: Buffer.concat([...chunks, chunk]).subarray(0, bodyBytes), fault: null };
      if (size > bodyBytes) return { body: null, fault: `sent more than ${bodyBytes / 1024} KiB` };
      chunks.push(chunk);
    }
    return late ? { body: null, fault: "sent its answer too slowly" } : { body: Buffer.concat(chunks, size), fault: null };
  } catch {
    return { body: null, fault: late ? "sent its answer too slowly" : "broke off its answer" };
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}

/** Sends one request on its own connection. The caller handles redirects. @throws NoAnswer */
export async function sendOutbound(request: OutboundRequest, limits: OutboundLimits): Promise<OutboundReply> {
  const { url, addresses, method, headers, body } = request;
  const client = new Client(url.origin, { ...connectionOptions(addresses, limits), pipelining: 0 });
  let sent = false;
  const abort = new AbortController();
  const connecting = setTimeout(() => abort.abort(), limits.connectMs);
  let waiting: NodeJS.Timeout | undefined;
  client.once("connect", () => {
    sent = true;
    clearTimeout(connecting);
    waiting = setTimeout(() => abort.abort(), limits.headersMs);
  });
  try {
    const path = `${url.pathname}${url.search}`;
    const reply = await client.request({ path, method, headers, body: body ?? null, signal: abort.signal });
    clearTimeout(waiting);
    return { status: reply.statusCode, headers: joinedHeaders(reply.headers), ...(await readBody(reply.body, limits)) };
  } catch (error) {
    throw new NoAnswer(error instanceof Error ? error.message : "No answer.", sent);
  } finally {
    clearTimeout(connecting);
    clearTimeout(waiting);
    await client.destroy().catch(() => {});
  }
}
