"use client";

import { type ReactNode, useEffect, useRef } from "react";
import { role } from "./table-roles.ts";

const steps: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

function move(event: KeyboardEvent) {
  const step = steps[event.key];
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".row-link")];
  const at = links.indexOf(event.target as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  links[step(at, links.length - 1)]?.focus();
}

export function RowKeys({ children }: { readonly children: ReactNode }) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const rows = body.current;
    rows?.addEventListener("keydown", move);
    return () => rows?.removeEventListener("keydown", move);
  }, []);
  return (
    <tbody ref={body} {...role.rowgroup}>
      {children}
    </tbody>
  );
}
