import { useSyncExternalStore } from "react";
import type { ChangeMessage } from "#lib/changes/change.ts";

/* Tabs of one browser share one stream of changes. The tab that holds a lock reads it and passes its messages on. */

const NAME = "countersign.changes";
const PATH = "/changes";
/** The pause before the stream is opened again after the service refused it; meanwhile pages refresh at intervals. */
const AGAIN_MS = 20_000;

/** `ask` asks whether another tab reads the stream; `changes` is about the audit sequences after `from`, up to `after`. */
type Said =
  | { readonly type: "changes"; readonly message: ChangeMessage; readonly from: number; readonly after: number }
  | { readonly type: "reading"; readonly reading: boolean; readonly after: number }
  | { readonly type: "ask" };

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- The rule is for windows. A channel reaches only its own origin.
const say = (channel: BroadcastChannel, said: Said): void => channel.postMessage(said);

type Listener = (message: ChangeMessage) => void;

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let reading = false;
/** The sequence up to which this tab knows the audit log; if the tab reads the stream, the stream begins after it. */
let after = 0;
let end: (() => void) | null = null;

function setReading(now: boolean): void {
  if (reading === now) return;
  reading = now;
  for (const watcher of watchers) watcher();
}

function hear(message: ChangeMessage): void {
  for (const listener of listeners) listener(message);
}

/** Makes a page refresh, because it may have missed changes, for example after the stream was closed for good. */
const ANYTHING: ChangeMessage = { changes: [], more: true };

/** Reads the stream until the signal aborts. If the connection is lost, EventSource reconnects and resumes by itself. */
function read(channel: BroadcastChannel, signal: AbortSignal): void {
  let source: EventSource | null = null;
  let wasOpen = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = (now: boolean) => {
    setReading(now);
    say(channel, { type: "reading", reading: now, after });
  };
  const open = () => {
    source = new EventSource(`${PATH}?after=${after}`);
    source.addEventListener("open", () => {
      wasOpen = true;
      tell(true);
    });
    source.addEventListener("message", ({ data, lastEventId }: MessageEvent<string>) => {
      const message = JSON.parse(data) as ChangeMessage;
      const from = after;
      after = Number(lastEventId);
      say(channel, { type: "changes", message, from, after });
      hear(message);
    });
    source.addEventListener("error", () => {
      tell(false);
      if (source?.readyState !== EventSource.CLOSED) return;
      // The session may have ended. The refreshed page then leads to the sign-in.
      if (wasOpen) {
        wasOpen = false;
        say(channel, { type: "changes", message: ANYTHING, from: after, after });
        hear(ANYTHING);
      }
      timer = setTimeout(open, AGAIN_MS);
    });
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Said>) => {
    if (data.type === "ask") say(channel, { type: "reading", reading, after });
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
    if (data.type === "ask") return;
    if (data.type === "reading") setReading(data.reading);
    // If the stream was further than this tab before the message, this tab missed changes.
    const missed = data.type === "changes" ? data.from > after : data.reading && data.after > after;
    if (data.type === "reading" && !missed) return;
    ({ after } = data);
    hear(data.type === "changes" ? { ...data.message, more: data.message.more || missed } : ANYTHING);
  });
  say(channel, { type: "ask" });
}

/** Browsers offer locks only to pages from https or from this machine; without locks, every page refreshes at intervals. */
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
  // The promise rejects when this page stops waiting for the lock, which is no error.
  navigator.locks.request(NAME, { signal: stop.signal }, untilStopped).catch(() => {});
  return () => {
    stop.abort();
    channel.close();
    reading = false;
  };
}

/** `since` is the audit sequence before the page was read. The stream is read only while there are listeners. */
export function onChanges(listener: Listener, since: number): () => void {
  listeners.add(listener);
  if (end === null) {
    after = since;
    end = begin();
  } else if (after > since) listener(ANYTHING);
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

/** Whether a tab of this browser receives changes from the stream. If not, pages refresh at intervals. */
export const useReading = (): boolean =>
  useSyncExternalStore(
    watch,
    () => reading,
    () => false,
  );
