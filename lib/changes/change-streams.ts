import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import { asEvent, changeMessageOf, type ChangeKind, type ChainEvent } from "#lib/changes/change.ts";
import { endedReaders, grownSince, newestEvents, readPlace, type Reader } from "#lib/changes/change-store.ts";
import type { StreamRequest } from "#lib/changes/stream-request.ts";
import { Counts, hasPlace } from "#lib/http/share.ts";
import { capabilitiesOfRole, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { authenticateReader } from "#lib/identity/sessions/authenticate.ts";
import { log } from "#lib/telemetry/log.ts";
import type { Capability } from "#lib/vocabulary.ts";

/** How often the database is read, so a stream gets at most one message in this time. */
const EVERY_MS = 1_000;
/** After this many reads, each stream gets an SSE comment, because proxies close connections without data. */
const QUIET_READINGS = 15;
/** One read returns at most EVENTS_MAX audit events, or one of each organization if that is more, and EVENTS_EACH of one. */
const EVENTS_MAX = 2_000;
const EVENTS_EACH = 50;
/** If the sessions cannot be checked for this long, all streams end, because a person may have lost the right to read. */
const UNCHECKED_MS = 10_000;
const SHARE = { most: 12_000, each: 2_500, kept: 1_000 };
/** The tabs of a browser share a stream. A tab may open a new one before the service notices that the old one has ended. */
const PER_SESSION = 4;
/** The most requests whose sessions are read at the same time; further requests get 503. */
const OPENING_MAX = 256;

type Stream = Reader & {
  readonly socket: Socket;
  readonly kinds: ReadonlySet<ChangeKind>;
  /** The sequence up to which the audit log was sent, without the events that the person may not read. */
  seen: number;
};

const rights: Readonly<Record<ChangeKind, readonly Capability[]>> = {
  payment: ["payments:read"],
  request: ["checkouts:read", "checkouts:approve"],
  mandate: ["mandates:read"],
};

function kindsFor(role: string): ReadonlySet<ChangeKind> {
  const held = capabilitiesOfRole(membershipRoleOf(role));
  const kinds = Object.keys(rights) as ChangeKind[];
  return new Set(kinds.filter((kind) => rights[kind].some((capability) => held.has(capability))));
}

const HEAD = [
  "HTTP/1.1 200 OK",
  "Content-Type: text/event-stream; charset=utf-8",
  "Cache-Control: no-store",
  "Connection: close",
  "X-Accel-Buffering: no",
  "X-Content-Type-Options: nosniff",
].join("\r\n");

/** With one of these statuses, a page refreshes itself at intervals and asks for the stream again later. */
const refusal = { 204: "No Content", 401: "Unauthorized", 503: "Service Unavailable" } as const;

function refuse(socket: Socket, status: keyof typeof refusal): void {
  socket.end(
    `HTTP/1.1 ${status} ${refusal[status]}\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

/** 401 if there is no session, 204 if the person is not a member of an active organization. */
async function readerOf({ cookie, after }: StreamRequest): Promise<(Reader & { readonly seen: number }) | 204 | 401> {
  const caller = await authenticateReader(cookie);
  if (caller === null) return 401;
  if (caller.organizationId === null) return 204;
  const { sessionId, organizationId } = caller;
  const place = await readPlace(sessionId, organizationId);
  // A browser that was in another organization can send a higher sequence than this one has.
  return place ? { sessionId, organizationId, role: place.role, seen: Math.min(after ?? place.sequence, place.sequence) } : 204;
}

/**
 * One read of the database serves all streams. A browser that has not received its last message is disconnected;
 * it connects again and continues.
 */
export class ChangeStreams {
  readonly #byOrganization = new Map<string, Set<Stream>>();
  readonly #bySession = new Map<string, Set<Stream>>();
  readonly #addresses = new Counts();
  #opening = 0;
  #readings = 0;
  #checkedAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #ended = false;

  get size(): number {
    return this.#addresses.total;
  }

  /** Takes over a connection after its HTTP request was read. Never throws. */
  async open(socket: Socket, request: StreamRequest): Promise<void> {
    const { address } = request;
    socket.on("error", () => {}).once("end", () => socket.destroy());
    // Discard all bytes that the browser sends after its request.
    socket.setNoDelay(true).setKeepAlive(true, 60_000).resume();
    const isFull = this.#opening >= OPENING_MAX || !hasPlace(this.#addresses.of(address), this.#addresses.total, SHARE);
    if (this.#ended || isFull) return refuse(socket, 503);
    this.#addresses.add(address, 1);
    socket.once("close", () => this.#addresses.add(address, -1));
    this.#opening += 1;
    try {
      const reader = await readerOf(request);
      if (typeof reader === "number") refuse(socket, reader);
      else if (this.#ended) refuse(socket, 503);
      else if (!socket.destroyed) this.#begin({ ...reader, socket, kinds: kindsFor(reader.role) });
    } catch (error) {
      log().warn({ error }, "A stream of changes could not be opened");
      refuse(socket, 503);
    } finally {
      this.#opening -= 1;
    }
  }

  /** The browsers connect again, to another process. */
  end(): void {
    this.#ended = true;
    if (this.#timer) clearTimeout(this.#timer);
    for (const stream of this.#all()) stream.socket.end();
  }

  #all(): Stream[] {
    return [...this.#byOrganization.values()].flatMap((streams) => [...streams]);
  }

  #begin(stream: Stream): void {
    const { socket, sessionId, organizationId } = stream;
    const places = [
      [this.#byOrganization, organizationId],
      [this.#bySession, sessionId],
    ] as const;
    for (const [streams, name] of places) streams.set(name, (streams.get(name) ?? new Set()).add(stream));
    socket.once("close", () => {
      for (const [streams, name] of places)
        if (streams.get(name)?.delete(stream) && streams.get(name)?.size === 0) streams.delete(name);
    });
    const own = this.#bySession.get(sessionId)!;
    const [oldest] = own;
    if (own.size > PER_SESSION) oldest?.socket.destroy();
    // A random delay, so that browsers do not all connect again at once after a process has ended.
    socket.write(`${HEAD}\r\n\r\nretry: ${randomInt(1_000, 5_000)}\nid: ${stream.seen}\n\n`);
    if (this.#timer) return;
    this.#checkedAt = performance.now();
    this.#plan();
  }

  #plan(): void {
    this.#timer = setTimeout(() => void this.#read(), EVERY_MS);
  }

  async #read(): Promise<void> {
    try {
      await this.#endRevoked();
      await this.#tell();
    } catch (error) {
      log().warn({ error }, "The changes could not be read; the streams go on");
      if (performance.now() - this.#checkedAt > UNCHECKED_MS) for (const { socket } of this.#all()) socket.end();
    }
    this.#readings += 1;
    if (this.#readings % QUIET_READINGS === 0) for (const stream of this.#all()) send(stream, ":\n\n");
    this.#timer = null;
    if (this.#byOrganization.size > 0 && !this.#ended) this.#plan();
  }

  async #endRevoked(): Promise<void> {
    const streams = this.#all();
    // The next stream may be of another organization, where the sequence of this one means nothing, so resume after 0.
    for (const at of await endedReaders(streams)) streams[at]?.socket.end("id: 0\n\n");
    this.#checkedAt = performance.now();
  }

  async #tell(): Promise<void> {
    const places = [...this.#byOrganization].map(([chain, streams]) => ({
      chain,
      sequence: Math.min(...[...streams].map(({ seen }) => seen)),
    }));
    const ends = await grownSince(places);
    if (ends.length === 0) return;
    const rows = Math.min(EVENTS_EACH, Math.max(1, Math.floor(EVENTS_MAX / ends.length)));
    const events = await newestEvents(ends, rows);
    for (const { chain, sequence } of ends) tellAll(this.#byOrganization.get(chain) ?? [], sequence, events.get(chain) ?? []);
  }
}

function send({ socket }: Stream, text: string | Buffer): void {
  if (socket.writableLength > 0) socket.destroy();
  else if (socket.writable) socket.write(text);
}

/** Streams with the same rights and the same last event share the bytes of one message. */
function tellAll(streams: Iterable<Stream>, end: number, events: readonly ChainEvent[]): void {
  const written = new Map<string, Buffer | null>();
  for (const stream of streams) {
    if (stream.seen >= end) continue;
    const key = `${stream.seen} ${[...stream.kinds].join()}`;
    let bytes = written.get(key);
    if (bytes === undefined) {
      const message = changeMessageOf(events, stream.seen, stream.kinds);
      bytes = message && Buffer.from(asEvent(end, message));
      written.set(key, bytes);
    }
    stream.seen = end;
    if (bytes) send(stream, bytes);
  }
}
