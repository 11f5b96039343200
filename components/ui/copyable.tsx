"use client";

import { Copy } from "lucide-react";
import { copyText } from "./copy-text.ts";
import { useHydrated } from "./hydrated.ts";

type Props = { readonly value: string; readonly label: string; readonly head?: number; readonly tail?: number };

export function Copyable({ value, label, head = 6, tail = 4 }: Props) {
  const hydrated = useHydrated();
  const short = value.length > head + tail + 3 ? `${value.slice(0, head)}…${value.slice(-tail)}` : value;
  return (
    <button
      type="button"
      className="group -ml-1.5 inline-flex min-h-6 max-w-full cursor-copy items-center gap-1 rounded-sm px-1.5 text-left font-mono text-[0.8125rem]/6 font-450 whitespace-nowrap text-text [font-feature-settings:'zero','calt'_0] hover:bg-accent-wash disabled:cursor-progress in-data-pairs:-my-0.5"
      title={value}
      disabled={!hydrated}
      onClick={() => void copyText(value)}
    >
      <span>{short}</span>
      <span className="sr">, copy {label}</span>
      <Copy className="icon size-3.5 text-muted group-hover:text-accent" aria-hidden />
    </button>
  );
}
