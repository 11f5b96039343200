"use client";

import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { useHydrated } from "./hydrated.ts";

type Tab = { readonly value: string; readonly name: string; readonly content: ReactNode };

function stepOf(key: string, at: number, count: number): number | undefined {
  if (key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowLeft") return (at + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : undefined;
}

/** For tabs that each have an address, use TabLinks. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const hydrated = useHydrated();
  const [chosen, setChosen] = useState(tabs[0]?.value);
  const at = Math.max(
    tabs.findIndex(({ value }) => value === chosen),
    0,
  );
  const shown = tabs[at];
  const move = (event: KeyboardEvent) => {
    const next = stepOf(event.key, at, tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(tabs[next]?.value);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <>
      <div ref={list} className="tabs" role="tablist" aria-label={label} tabIndex={-1} onKeyDown={move}>
        {tabs.map(({ value, name }, index) => (
          <button
            key={value}
            type="button"
            role="tab"
            disabled={!hydrated}
            id={`${id}-${index}`}
            aria-selected={index === at}
            aria-controls={index === at ? `${id}-panel` : undefined}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setChosen(value)}
          >
            {name}
          </button>
        ))}
      </div>
      {shown && (
        <div key={shown.value} className="pt-4" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`} tabIndex={0}>
          {shown.content}
        </div>
      )}
    </>
  );
}
