import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { actingFor } from "#lib/db/request.ts";
import { env, outboundLoopback } from "#lib/env.ts";
import { parseJson } from "#lib/http/json.ts";
import { ownOrigins } from "#lib/http/origin.ts";
import { perProcess } from "#lib/process.ts";
import {
  isLoopbackAddress,
  isPublicAddress,
  outboundTarget,
  type OutboundRules,
  type Target,
} from "#lib/outbound/outbound-address.ts";
import { isProblem } from "#lib/problem.ts";
import { OutboundPlaces, type PlaceLimits } from "#lib/outbound/outbound-places.ts";
import { KeptConnections, sendKept, type KeptLimits } from "#lib/outbound/kept-connections.ts";
import { NoAnswer, sendOutbound, type OutboundLimits, type OutboundReply } from "#lib/outbound/outbound-request.ts";
import { replyCache } from "#lib/outbound/reply-cache.ts";
import { storefrontInvalid, storefrontUnavailable } from "#lib/outbound/storefront-problem.ts";
import { atMost } from "#lib/time.ts";

export type GuardedRequest = {
  readonly method?: "GET" | "POST";
  readonly json?: unknown;
  /** The signed x402 payment, for the header payment-signature. */
  readonly paymentSignature?: string;
  /** A Web Push message or a webhook: bytes that are encrypted or signed, with headers in lower case. Replaces `json`. */
  readonly message?: { readonly body: Uint8Array | string; readonly headers: Readonly<Record<string, string>> };
  /** The body that is accepted, json by default. `text` and `anything` admit any content type; only `once` returns bytes. */
  readonly expect?: keyof typeof accepted;
  /** If the client keeps connections open, different users, such as webhook endpoints, do not share them. */
  readonly user?: string;
  /** Lets the reply come from the cache, and stores it there if its status is 200; only for manifests and catalogs. */
  readonly cached?: boolean;
};

export type GuardedReply = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the body is empty, if JSON was not expected, or if a reply other than 2xx cannot be read. */
  readonly json: unknown;
  readonly text: string;
  /** The URL that answered, after redirects. */
  readonly url: string;
};

export type GuardedFetch = {
  (url: string, request?: GuardedRequest): Promise<GuardedReply>;
  /** Follows no redirect. Null if no answer came but the host may have the request. */
  readonly once: (url: string, request: GuardedRequest) => Promise<OutboundReply | null>;
};

export type Guard = {
  readonly rules: () => OutboundRules;
  readonly resolve: (hostname: string) => Promise<readonly LookupAddress[]>;
  readonly limits: OutboundLimits & {
    readonly redirects: number;
    readonly places: Omit<PlaceLimits, "waitMs">;
    readonly cacheMs: number;
    /** Keeps connections open. A request may then arrive twice: it is sent again if its connection breaks before the answer. */
    readonly kept?: KeptLimits;
  };
};

const USER_AGENT = "Countersign/1 (+payment authorization for software agents)";
/** Requests that act for no organization, such as those of workers, are counted under this id. */
const NOBODY = "service";
const CACHE_BYTES = 16 * 1024 * 1024;
/** The maximum number of keys and values in the JSON of a reply, higher than for a request body: a catalog can have many. */
const NODES_MAX = 20_000;
const CREDENTIAL = /^[\x21-\x7e]{1,32768}$/;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export const standardLimits: Guard["limits"] = {
  connectMs: 2_000,
  headersMs: 3_000,
  bodyMs: 5_000,
  bodyBytes: 256 * 1024,
  headerBytes: 64 * 1024,
  redirects: 2,
  places: {
    total: { most: 256, each: 32, kept: 64 },
    // One organization may use at most four of the five connections to a host, so that another organization still gets one.
    host: { most: 5, each: 4, kept: 1 },
    waiting: { most: 1_024, each: 128, kept: 256 },
    waitingForHost: { most: 64, each: 32, kept: 16 },
  },
  cacheMs: 60_000,
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A name without addresses and one with private addresses get the same answer, so that callers cannot explore the network. */
const notPublic = (url: URL) => storefrontUnavailable(`${url.host} does not lead to a public host.`);

async function addressesOf(target: Target & { ok: true }, { resolve, limits }: Guard): Promise<readonly LookupAddress[]> {
  const { url, loopback } = target;
  const bare = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const family = isIP(bare);
  if (family !== 0) return [{ address: bare, family }];
  const found = await atMost(resolve(bare), limits.connectMs, []).catch(() => []);
  const allowed = loopback ? isLoopbackAddress : isPublicAddress;
  if (found.length === 0 || !found.every(({ address }) => allowed(address))) throw notPublic(url);
  return found;
}

/** The longest time of `once` with kept connections: the wait for a place, the look-up, and two tries. */
export const onceMsMax = ({ connectMs, headersMs, bodyMs }: OutboundLimits): number =>
  headersMs + connectMs + 2 * (connectMs + headersMs + bodyMs);

const accepted = { json: "application/json", text: "text/plain", anything: "*/*" } as const;

function headersFor({ json, expect, paymentSignature, message }: GuardedRequest): Record<string, string> {
  if (paymentSignature !== undefined && !CREDENTIAL.test(paymentSignature)) throw new TypeError("This is not a header value.");
  return {
    ...message?.headers,
    "user-agent": USER_AGENT,
    accept: accepted[expect ?? "json"],
    "accept-encoding": "identity",
    ...(json !== undefined && { "content-type": "application/json" }),
    ...(paymentSignature !== undefined && { "payment-signature": paymentSignature }),
  };
}

const isEncoded = ({ headers }: OutboundReply): boolean => !/^(identity)?$/i.test((headers["content-encoding"] ?? "").trim());

function readJson(text: string, host: string): unknown {
  try {
    return parseJson(text, NODES_MAX);
  } catch {
    throw storefrontInvalid(`${host} answered JSON that cannot be read.`);
  }
}

function decode(body: Uint8Array, host: string): string {
  try {
    return utf8.decode(body);
  } catch {
    throw storefrontInvalid(`${host} answered text that is not UTF-8.`);
  }
}

type Content = Pick<GuardedReply, "text" | "json">;
const nothing: Content = { text: "", json: undefined };

/** @throws Problem storefront_invalid for a body that did not arrive whole, is compressed or unreadable, or has another type */
function contentOf(reply: OutboundReply, host: string, expect: keyof typeof accepted): Content {
  if (isEncoded(reply) || reply.body === null)
    throw storefrontInvalid(`${host} ${reply.fault ?? "compressed its answer, although the request forbids it"}.`);
  if (reply.body.byteLength === 0) return nothing;
  if (expect !== "json") return { text: decode(reply.body, host), json: undefined };
  if (!JSON_TYPE.test(reply.headers["content-type"] ?? "")) throw storefrontInvalid(`${host} did not answer JSON.`);
  const text = decode(reply.body, host);
  return { text, json: readJson(text, host) };
}

/** An unreadable body is an error only with a 2xx status. */
function readReply(reply: OutboundReply, url: URL, expect: keyof typeof accepted): GuardedReply {
  const { status, headers } = reply;
  const answer = { status, headers, url: url.href };
  try {
    return { ...answer, ...contentOf(reply, url.host, expect) };
  } catch (error) {
    if ((status >= 200 && status < 300) || !isProblem(error)) throw error;
    return { ...answer, ...nothing };
  }
}

/** The only HTTP client for addresses that callers name. */
export function createGuardedFetch(guard: Guard): GuardedFetch {
  const { limits } = guard;
  const places = new OutboundPlaces({ ...limits.places, waitMs: limits.headersMs });
  const kept = limits.kept ? new KeptConnections({ ...limits, ...limits.kept }) : null;
  const cache = replyCache<GuardedReply>({ lifeMs: limits.cacheMs, bytes: CACHE_BYTES });

  /** Sends only to addresses that were checked after the name was resolved. @throws Problem if it refuses; NoAnswer */
  async function hop(text: string, request: GuardedRequest): Promise<{ url: URL; reply: OutboundReply }> {
    const target = outboundTarget(text, guard.rules());
    if (!target.ok) throw storefrontInvalid(target.detail);
    const { url } = target;
    const headers = headersFor(request);
    const body = request.message?.body ?? (request.json === undefined ? undefined : JSON.stringify(request.json));
    const held = await places.use(url.hostname, actingFor() ?? NOBODY, async () => {
      const sent = { url, method: request.method ?? "GET", headers, body };
      if (kept) return sendKept(await kept.to(request.user ?? "", url.origin, () => addressesOf(target, guard)), sent, limits);
      return sendOutbound({ ...sent, addresses: await addressesOf(target, guard) }, limits);
    });
    if (!held) throw storefrontUnavailable(`Too many requests to ${url.host} are under way.`);
    return { url, reply: held.value };
  }

  async function follow(first: string, request: GuardedRequest): Promise<{ url: URL; reply: OutboundReply }> {
    let next = first;
    for (let redirects = 0; ; redirects++) {
      const { url, reply } = await hop(next, request);
      if (!REDIRECTS.has(reply.status)) return { url, reply };
      const { location } = reply.headers;
      if (request.method === "POST") throw storefrontInvalid(`${url.host} redirected a call that must not be redirected.`);
      if (redirects === limits.redirects) throw storefrontInvalid(`${url.host} redirected too often.`);
      if (location === undefined || !URL.canParse(location, url)) throw storefrontInvalid(`${url.host} redirected nowhere.`);
      next = new URL(location, url).href;
    }
  }

  async function guardedFetch(text: string, request: GuardedRequest = {}): Promise<GuardedReply> {
    const known = request.cached ? cache.get(text) : null;
    if (known) return known;
    try {
      const { url, reply } = await follow(text, request);
      const read = readReply(reply, url, request.expect ?? "json");
      if (request.cached && read.status === 200) cache.set(text, read, read.text.length * 2);
      return read;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw storefrontUnavailable(`${new URL(text).host} did not answer in time.`);
    }
  }

  async function once(text: string, request: GuardedRequest): Promise<OutboundReply | null> {
    try {
      return (await hop(text, request)).reply;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (error.sent) return null;
      throw storefrontUnavailable(`${new URL(text).host} could not be reached.`);
    }
  }

  return Object.assign(guardedFetch, { once });
}

/** Look-ups by the operating system share four threads with file access, and a slow name server could block them. */
async function resolvePublic(hostname: string): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: standardLimits.connectMs, tries: 1 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return [
    ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
}

const resolveHost = (hostname: string): Promise<LookupAddress[]> =>
  hostname === "localhost" ? lookup(hostname, { all: true }) : resolvePublic(hostname);

/** The loopback addresses that the service may call, which only a sandbox has, and its own origins, which it must not call. */
export const outboundRules = (): OutboundRules => ({
  loopback: env().ENVIRONMENT === "sandbox" ? outboundLoopback() : [],
  own: ownOrigins(),
});

export const installedFetch = (limits: Guard["limits"]): GuardedFetch =>
  createGuardedFetch({ rules: outboundRules, resolve: resolveHost, limits });

export const outbound = (): GuardedFetch => perProcess("outbound/guarded-fetch", () => installedFetch(standardLimits));

export const guardedFetch = (url: string, request?: GuardedRequest): Promise<GuardedReply> => outbound()(url, request);
