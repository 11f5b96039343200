import { fetchWithin, wholeText } from "./bounded.ts";
import { ServiceRefused, ServiceUnreachable } from "./errors.ts";
import { addresses, type ErrorBody, type Operations } from "./operations.ts";
import { parseJson } from "./parse-json.ts";

export type ServiceOptions = {
  /** The address of the service, such as https://pay.example.com. */
  readonly url: string;
  readonly apiKey: string;
  /** Default: the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
};

export type CallOptions = { readonly idempotencyKey?: string; readonly signal?: AbortSignal | undefined };

export type Api = {
  readonly [Id in keyof Operations]: (
    request: Operations[Id]["request"],
    options?: CallOptions,
  ) => Promise<Operations[Id]["response"]>;
};

export type Answer<T> = { readonly body: T; /** The service repeated an earlier answer. */ readonly replayed: boolean };

/** The service answers within 60 seconds, also if it waits for a person. Its largest answer is a page of payments with their 402s. */
export const SERVICE_MS = 120_000;
export const SERVICE_LIMITS = { bytes: 1 << 25, milliseconds: 60_000 };
const TRIES = 5;
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 10_000;

/** Waits, and ends early if the signal aborts. @throws The signal's reason */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    };
    const aborted = (): void => (end(), reject(signal?.reason as Error));
    const timer = setTimeout(() => (end(), resolve()), milliseconds);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

export const isHttp = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** Whether a key can be sent in a header. Keys have only visible ASCII characters. */
export const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** Why a fetch failed. The error itself says only "fetch failed"; its `cause` has the reason. */
export function whyUnreachable(error: unknown): string {
  const { cause, message } = error as {
    readonly cause?: { readonly code?: unknown; readonly message?: unknown };
    readonly message?: unknown;
  };
  return String(cause?.code ?? (cause?.message || message));
}

const isProblem = (body: unknown): body is ErrorBody =>
  typeof body === "object" && body !== null && "code" in body && "detail" in body;

async function readJson(response: Response): Promise<unknown> {
  const text = await wholeText(response, SERVICE_LIMITS);
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceUnreachable(`The service answered ${response.status} without JSON.`);
  }
}

/** Whether the same request can succeed a moment later. */
function isPassing(error: unknown): boolean {
  if (error instanceof ServiceUnreachable) return true;
  if (!(error instanceof ServiceRefused)) return false;
  return [429, 502, 503].includes(error.status)
    ? error.code !== "approval_limit_reached"
    : error.code === "idempotency_in_flight";
}

type Parts = { readonly body?: unknown; readonly query?: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>;

function pathOf(template: string, { query = {}, ...parts }: Parts): string {
  const path = template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(parts[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, typeof value === "string" ? value : JSON.stringify(value));
  return search.size > 0 ? `${path}?${search}` : path;
}

type Connection = Required<Pick<ServiceOptions, "apiKey" | "fetch">> & { readonly origin: string };
type Sent = { readonly method: string; readonly path: string; readonly body?: unknown };

function requestOf({ apiKey }: Connection, { method, body }: Sent, { idempotencyKey, signal }: CallOptions): RequestInit {
  const writes = method !== "GET";
  return {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json",
      ...(writes && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    ...(writes && { body: JSON.stringify(body ?? {}) }),
    redirect: "error",
    ...(signal && { signal }),
  };
}

/** @throws ServiceRefused, ServiceUnreachable, or the signal's reason */
async function once<T>(connection: Connection, sent: Sent, options: CallOptions): Promise<Answer<T>> {
  const { origin, fetch: send } = connection;
  let response: Response;
  let read: unknown;
  try {
    response = await fetchWithin(SERVICE_MS, send, `${origin}${sent.path}`, requestOf(connection, sent, options));
    read = await readJson(response);
  } catch (cause) {
    options.signal?.throwIfAborted();
    if (cause instanceof ServiceUnreachable) throw cause;
    throw new ServiceUnreachable(`The service at ${origin} cannot be reached, or its answer was cut off.`, { cause });
  }
  if (response.ok) return { body: read as T, replayed: response.headers.get("idempotent-replayed") === "true" };
  if (!isProblem(read)) throw new ServiceUnreachable(`The service answered ${response.status} without a problem.`);
  throw new ServiceRefused(read, Number(response.headers.get("retry-after") ?? 0) * 1_000);
}

/** Sends a request, at most five times while it fails for a passing reason. For reads and requests with an idempotency key. */
async function repeatedly<T>(connection: Connection, sent: Sent, options: CallOptions): Promise<Answer<T>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await once<T>(connection, sent, options);
    } catch (error) {
      if (tries === TRIES || !isPassing(error)) throw error;
      const retryAfterMs = error instanceof ServiceRefused ? error.retryAfterMs : 0;
      const delayMs = Math.max(retryAfterMs || 0, PAUSE_MS * 2 ** (tries - 1));
      await pause(Math.min(delayMs, PAUSE_MAX_MS), options.signal ?? undefined);
    }
  }
}

const operationCalls = (connection: Connection): Api =>
  Object.fromEntries(
    Object.entries(addresses).map(([id, [method, template]]) => [
      id,
      async (parts: Parts, options: CallOptions = {}) => {
        const isSafe = method === "GET" || options.idempotencyKey !== undefined;
        const sent = { method, path: pathOf(template, parts), body: parts.body };
        return (await (isSafe ? repeatedly : once)(connection, sent, options)).body;
      },
    ]),
  ) as unknown as Api;

/** Calls an operation whose body contains an idempotency key, and repeats it if it fails for a passing reason. */
type Call = <Id extends keyof Operations>(
  id: Id,
  request: Operations[Id]["request"],
  options?: CallOptions,
) => Promise<Answer<Operations[Id]["response"]>>;

/** The keys with which receipts are signed. They are public, so no API key is needed. @throws ServiceUnreachable */
export async function publishedKeys(origin: string, send: typeof fetch = fetch): Promise<unknown> {
  try {
    const answer = await fetchWithin(SERVICE_MS, send, `${origin}/.well-known/jwks.json`);
    return parseJson(await wholeText(answer, SERVICE_LIMITS), "The answer");
  } catch (cause) {
    throw new ServiceUnreachable(`The keys of the service at ${origin} cannot be read: ${whyUnreachable(cause)}`, { cause });
  }
}

export type Service = ReturnType<typeof connect>;

export function connect({ url, apiKey, fetch: send = globalThis.fetch }: ServiceOptions) {
  const connection = { origin: url.trim().replace(/\/+$/, ""), apiKey: apiKey.trim(), fetch: send };
  const call: Call = (id, request, options = {}) => {
    const [method, template] = addresses[id];
    const parts = request as Parts;
    return repeatedly(connection, { method, path: pathOf(template, parts), body: parts.body }, options);
  };
  return {
    origin: connection.origin,
    fetch: send,
    api: operationCalls(connection),
    call,
  };
}
