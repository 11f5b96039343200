import { useSyncExternalStore } from "react";
import type { ChangeMessage } from "#lib/changes/change.ts";

/* One tab of the browser reads the stream of changes and tells the others. The tab that holds the lock is this reader. */

const NAME = "countersign.changes";
const PATH = "/changes";
/** After a refusal, such as one for too many streams. Pages are read at intervals until then. */
const AGAIN_MS = 20_000;

/** Messages between tabs. `ask`: a tab that has just opened wants to know whether somebody reads. */
type Said =
  | { readonly type: "changes"; readonly message: ChangeMessage; readonly after: string }
  | { readonly type: "reading"; readonly reading: boolean }
  | { readonly type: "ask" };

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel has no such argument; it stays within the origin.
const say = (channel: BroadcastChannel, said: Said): void => channel.postMessage(said);

type Listener = (message: ChangeMessage) => void;

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let reading = false;
/** The id of the last message, from which a tab that takes over resumes. */
let after = "";
let end: (() => void) | null = null;

function setReading(now: boolean): void {
  if (reading === now) return;
  reading = now;
  for (const watcher of watchers) watcher();
}

function hear(message: ChangeMessage): void {
  for (const listener of listeners) listener(message);
}

/** For a page that cannot know what changed. */
const ANYTHING: ChangeMessage = { changes: [], more: true };

/** Reads the stream until the signal aborts. EventSource itself connects again after a cut, and resumes. */
function read(channel: BroadcastChannel, signal: AbortSignal): void {
  let source: EventSource | null = null;
  let wasOpen = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = (now: boolean) => {
    setReading(now);
    say(channel, { type: "reading", reading: now });
  };
  const open = () => {
    source = new EventSource(after === "" ? PATH : `${PATH}?after=${after}`);
    source.addEventListener("open", () => {
      wasOpen = true;
      tell(true);
    });
    source.addEventListener("message", ({ data, lastEventId }: MessageEvent<string>) => {
      const message = JSON.parse(data) as ChangeMessage;
      after = lastEventId;
      say(channel, { type: "changes", message, after });
      hear(message);
    });
    source.addEventListener("error", () => {
      tell(false);
      if (source?.readyState !== EventSource.CLOSED) return;
      // The session may have ended: the page, read again, leads to the sign-in.
      if (wasOpen) {
        wasOpen = false;
        say(channel, { type: "changes", message: ANYTHING, after });
        hear(ANYTHING);
      }
      timer = setTimeout(open, AGAIN_MS);
    });
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Said>) => {
    if (data.type === "ask") say(channel, { type: "reading", reading });
  });
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    source?.close();
    tell(false);
  });
  open();
}

function follow(channel: BroadcastChannel): void {
  channel.addEventListener("message", ({ data }: MessageEvent<Said>) => {
    if (data.type === "reading") setReading(data.reading);
    if (data.type !== "changes") return;
    ({ after } = data);
    hear(data.message);
  });
  say(channel, { type: "ask" });
}

/** Browsers lend locks only to pages that came over https or from this machine. Elsewhere every page is read at intervals. */
const canShare = (): boolean => "locks" in navigator && "BroadcastChannel" in window && "EventSource" in window;

function begin(): () => void {
  if (!canShare()) return () => {};
  const stop = new AbortController();
  const channel = new BroadcastChannel(NAME);
  follow(channel);
  const untilStopped = () =>
    new Promise<void>((done) => {
      stop.signal.addEventListener("abort", () => done());
      read(channel, stop.signal);
    });
  // Rejects when this page ends its wait for the lock.
  navigator.locks.request(NAME, { signal: stop.signal }, untilStopped).catch(() => {});
  return () => {
    stop.abort();
    channel.close();
    reading = false;
  };
}

/** Calls the listener for each message while at least one page part listens. */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  end ??= begin();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    end?.();
    end = null;
  };
}

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

/** Whether this browser hears of changes; otherwise pages are read at intervals. */
export const useReading = (): boolean =>
  useSyncExternalStore(
    watch,
    () => reading,
    () => false,
  );
