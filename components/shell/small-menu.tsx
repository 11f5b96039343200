"use client";

import { usePathname } from "next/navigation";
import { type ReactNode, useEffect, useRef } from "react";

/** The menu on small screens. It opens without scripts. With scripts, it closes on Esc, on a click outside and on navigation. */
export function SmallMenu({ children }: { readonly children: ReactNode }) {
  const path = usePathname();
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const escape = (event: KeyboardEvent) => {
      const details = menu.current;
      if (event.key !== "Escape" || !details?.open || event.defaultPrevented) return;
      details.open = false;
      details.querySelector("summary")?.focus();
    };
    const elsewhere = ({ target }: PointerEvent) => {
      if (target instanceof Node && menu.current && !menu.current.contains(target)) menu.current.open = false;
    };
    document.addEventListener("keydown", escape);
    document.addEventListener("pointerdown", elsewhere);
    return () => {
      document.removeEventListener("keydown", escape);
      document.removeEventListener("pointerdown", elsewhere);
    };
  }, []);
  return (
    // The key changes on navigation. React then mounts a new element, which is closed.
    <details key={path} ref={menu} className="relative">
      <summary className="-mr-3 min-h-11 px-3 font-560 text-text no-underline">Menu</summary>
      <div className="absolute top-12 right-0 z-20 grid w-[min(20rem,calc(100vw-2rem))] gap-3 rounded-md border bg-raised p-3 shadow-float *:last:border-t *:last:pt-2 [&_.rail-nav_a]:min-h-11">
        {children}
      </div>
    </details>
  );
}
