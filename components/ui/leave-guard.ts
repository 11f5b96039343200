import { useEffect } from "react";

const QUESTION = "Leave without saving? What you entered on this page is lost.";

function leavesPage({ target, button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return false;
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[href]") : null;
  if (!link || link.hasAttribute("download") || (link.target !== "" && link.target !== "_self")) return false;
  const { origin, pathname, search } = new URL(link.href);
  return origin !== location.origin || pathname !== location.pathname || search !== location.search;
}

type Traversal = Event & { readonly navigationType?: string };

/** A link of the router does not unload the page, so the browser itself would not ask the person. */
export function useLeaveGuard(active: boolean): void {
  useEffect(() => {
    if (!active) return undefined;
    let agreed = false;
    const end = new AbortController();
    const { signal } = end;
    const ask = (event: Event): void => {
      if (agreed) return;
      agreed = window.confirm(QUESTION);
      if (agreed) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    window.addEventListener("click", (event) => leavesPage(event) && ask(event), { capture: true, signal });
    window.addEventListener("beforeunload", (event) => agreed || event.preventDefault(), { signal });
    // Browsers without the Navigation API do not ask on going back, but they ask when the page unloads.
    const { navigation } = window as { readonly navigation?: EventTarget };
    const traverse = (event: Traversal) => event.navigationType === "traverse" && event.cancelable && ask(event);
    navigation?.addEventListener("navigate", traverse, { signal });
    return () => end.abort();
  }, [active]);
}
