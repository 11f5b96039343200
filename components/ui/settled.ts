import { useEffect, useState } from "react";

/** Half a second, so that a click meant for another window does not hit a button here. */
const SETTLE_MS = 500;

/** True once the page has been visible for SETTLE_MS. False right after it appears or regains the focus. */
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
