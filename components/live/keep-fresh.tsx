"use client";

import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import type { Change, ChangeKind, ChangeMessage } from "#lib/changes/change.ts";
import { onChanges, useReading } from "./changes.ts";
import { afterReading, calm, waitOf } from "./refresh-gap.ts";

const EVERY_MS = 10_000;
/** A hidden tab refreshes only at every sixth interval, so that the count in its title stays nearly correct. */
const HIDDEN_TIMES = 6;
/** The maximum number of intervals, at least half an hour, so that a page that was left open stops sending requests. */
const TIMES_MAX = 180;

type Followed = {
  readonly kinds: readonly ChangeKind[];
  /** If set, only changes with this id matter: of an authorization or, if a change has none, of its mandate or checkout. */
  readonly id?: string | undefined;
  /** The sequence of the organization's audit log before the page was read. Later changes may be missing from the page. */
  readonly since: number;
};

const concerns = ({ kinds, id }: Pick<Followed, "kinds" | "id">, { kind, id: changed }: Change): boolean =>
  kinds.includes(kind) && (id === undefined || id === changed);

function useChanges({ kinds, id, since }: Followed): void {
  const router = useRouter();
  const watched = kinds.join();
  // In a ref, because a refreshed page has a new sequence and must keep its listener.
  const start = useRef(since);
  useEffect(() => {
    start.current = since;
  }, [since]);
  useEffect(() => {
    const followed = { kinds: watched.split(",") as ChangeKind[], id };
    let pace = calm;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStale = false;
    const readAgain = () => {
      timer = undefined;
      isStale = false;
      pace = afterReading(pace, performance.now());
      router.refresh();
    };
    const hear = ({ changes, more }: ChangeMessage) => {
      const own = changes.filter((change) => concerns(followed, change));
      if (own.length === 0 && !more) return;
      isStale = true;
      // A hidden tab is refreshed after changes of requests, because its title shows the number of waiting requests.
      const isSeen = document.visibilityState === "visible" || own.some(({ kind }) => kind === "request");
      if (isSeen) timer ??= setTimeout(readAgain, waitOf(pace, performance.now()));
    };
    const show = () => {
      if (isStale && document.visibilityState === "visible") timer ??= setTimeout(readAgain, 0);
    };
    const forget = onChanges(hear, start.current);
    document.addEventListener("visibilitychange", show);
    return () => {
      clearTimeout(timer);
      forget();
      document.removeEventListener("visibilitychange", show);
    };
  }, [router, watched, id]);
}

function useIntervals(isNeeded: boolean) {
  const router = useRouter();
  const [times, setTimes] = useState(0);
  const ticks = useRef(0);
  const stopped = times >= TIMES_MAX;
  useEffect(() => {
    if (stopped || !isNeeded) return undefined;
    const timer = setInterval(() => {
      ticks.current += 1;
      setTimes((done) => done + 1);
      if (document.visibilityState === "visible" || ticks.current % HIDDEN_TIMES === 0) router.refresh();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [router, stopped, isNeeded]);
  const again = () => {
    setTimes(0);
    router.refresh();
  };
  return { stopped, again };
}

type Props = Followed & {
  /** The number of requests on the page that wait for approval. A screen reader announces when it grows. */
  readonly count?: number;
  readonly words?: string;
};

export function KeepFresh({ kinds, id, since, count = 0, words = "" }: Props) {
  const isReading = useReading();
  const before = useRef(count);
  useChanges({ kinds, id, since });
  const { stopped, again } = useIntervals(!isReading);
  useEffect(() => {
    if (count > before.current) announce(`${words} waiting`);
    before.current = count;
  }, [count, words]);
  if (isReading) return <span>Shows changes as they happen</span>;
  if (!stopped) return <span>Refreshes every 10 seconds while it is open</span>;
  return (
    <Button size="small" onClick={again}>
      Refresh
    </Button>
  );
}
