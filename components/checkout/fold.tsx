"use client";

import { ChevronDown } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";

type Props = {
  readonly id: string;
  readonly title: string;
  readonly note?: ReactNode;
  /** Whether the section starts open on small screens too. */
  readonly open?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
};

/** A section that is always open on wide screens and without scripts. On small screens its heading opens and closes it. */
export function Fold({ id, title, note, open: startsOpen = false, className = "", children }: Props) {
  const [open, setOpen] = useState(startsOpen);
  const hydrated = useHydrated();
  const aside = note !== undefined && <span className="truncate text-sm font-normal tracking-normal text-muted">{note}</span>;
  return (
    <section className={`min-w-0 px-4 py-3 lg:px-8 lg:py-4 [&_details]:mt-3 ${className}`} aria-labelledby={id}>
      <h2 className="text-base/6 lg:mb-3" id={id}>
        <span className="flex items-baseline justify-between gap-3 max-lg:hidden">
          {title} {aside}
        </span>
        <button
          type="button"
          className="flex min-h-8 w-full cursor-pointer items-center gap-3 rounded-xs text-left text-sm lg:hidden"
          aria-expanded={open}
          disabled={!hydrated}
          onClick={() => setOpen(!open)}
        >
          <ChevronDown className={`icon text-accent ${open ? "rotate-180" : ""}`} aria-hidden />
          <span className="whitespace-nowrap text-accent">{title}</span> {aside}
        </button>
      </h2>
      <div className={open ? "pt-2 lg:pt-0" : "max-lg:pt-2 max-lg:[@media(scripting:enabled)]:hidden"}>{children}</div>
    </section>
  );
}
