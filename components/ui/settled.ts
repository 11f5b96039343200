import { useEffect, useState } from "react";

/** Half a second. Without this wait, a click that was meant for another window could hit a button of this page. */
const SETTLE_MS = 500;

/** False while the page is hidden, and for SETTLE_MS after it becomes visible, gets the focus or shows this component. */
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
