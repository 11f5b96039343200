"use client";

import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";

const EVERY_MS = 10_000;
/** In a hidden tab, every sixth time, so that the number in its title stays about right. */
const HIDDEN_TIMES = 6;
/** Half an hour, so that a page that was left open stops sending requests. */
const TIMES_MAX = 180;

type Props = {
  /** The number of waiting requests. A screen reader announces an increase. */
  readonly count: number;
  readonly words: string;
};

/** Refreshes the page every ten seconds, or every minute in a hidden tab, announces new requests, and stops after half an hour. */
export function KeepFresh({ count, words }: Props) {
  const router = useRouter();
  const [times, setTimes] = useState(0);
  const before = useRef(count);
  const ticks = useRef(0);
  const stopped = times >= TIMES_MAX;
  useEffect(() => {
    if (count > before.current) announce(`${words} waiting`);
    before.current = count;
  }, [count, words]);
  useEffect(() => {
    if (stopped) return undefined;
    const timer = setInterval(() => {
      ticks.current += 1;
      setTimes((done) => done + 1);
      if (document.visibilityState === "visible" || ticks.current % HIDDEN_TIMES === 0) router.refresh();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [router, stopped]);
  if (!stopped) return <span>Refreshes every 10 seconds while it is open</span>;
  return (
    <Button
      size="small"
      onClick={() => {
        setTimes(0);
        router.refresh();
      }}
    >
      Refresh
    </Button>
  );
}
