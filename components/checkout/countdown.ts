import { useEffect, useRef, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";

/** In seconds. A screen reader announces the time at most once below each, because every second would be too much. */
const SPOKEN = [60, 10] as const;

const secondsLeft = (ms: number): number => Math.max(0, Math.ceil(ms / 1000));

/** The seconds are counted from the server's time, because the browser's clock may be wrong. */
export function useCountdown(until: string, now: string): number {
  const left = Date.parse(until) - Date.parse(now);
  const [seconds, setSeconds] = useState(secondsLeft(left));
  const spoken = useRef(new Set<number>());
  useEffect(() => {
    const end = Date.now() + left;
    const tick = () => {
      const remaining = secondsLeft(end - Date.now());
      setSeconds(remaining);
      const mark = SPOKEN.findLast((one) => remaining <= one);
      if (mark !== undefined && remaining > 0 && !spoken.current.has(mark)) {
        for (const one of SPOKEN) if (one >= mark) spoken.current.add(one);
        announce(`This request expires in ${remaining} seconds`);
      }
      if (remaining === 0) clearInterval(timer);
    };
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [left]);
  return seconds;
}
