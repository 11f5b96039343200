import { useEffect, useState } from "react";

/** Long enough that a click meant for something else does not land here. */
const SETTLE_MS = 500;

/** True once the page has been in front of the person for a moment: not right after it appears or comes back. */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(timer);
      setSettled(false);
      if (document.visibilityState === "visible") timer = setTimeout(() => setSettled(true), SETTLE_MS);
    };
    wait();
    window.addEventListener("focus", wait);
    document.addEventListener("visibilitychange", wait);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", wait);
      document.removeEventListener("visibilitychange", wait);
    };
  }, []);
  return settled;
}
