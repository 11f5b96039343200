"use client";

import { type RefObject, useEffect, useRef, useState } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import { isTyping } from "#components/ui/is-typing.ts";
import { early, OnDemand } from "#components/ui/on-demand.tsx";
import type { CommandGroup } from "./commands.ts";

const loadDialog = () => import("./palette-dialog.tsx").then(({ PaletteDialog }) => PaletteDialog);
const fetching = early(loadDialog);

export type SearchEntry = {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
};

/** The buttons that open the palette and the palette itself are in different parts of the page. */
const opening = new EventTarget();

export function PaletteButton() {
  const hydrated = useHydrated();
  const apple = hydrated && /Mac|iPhone|iPad/.test(navigator.platform);
  return (
    <button
      type="button"
      className="flex min-h-9 cursor-pointer items-center justify-between rounded-sm border bg-surface px-3 text-sm text-muted hover:border-border-strong"
      disabled={!hydrated}
      data-waits={!hydrated || undefined}
      aria-haspopup="dialog"
      aria-keyshortcuts={hydrated ? (apple ? "Meta+K" : "Control+K") : undefined}
      onClick={() => opening.dispatchEvent(new Event("open"))}
      {...fetching}
    >
      Search <kbd className="font-sans text-xs font-medium text-muted">{apple ? "⌘ K" : "Ctrl K"}</kbd>
    </button>
  );
}

const isPlain = ({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean => !ctrlKey && !metaKey && !altKey;

/** Ctrl-K or Command-K opens and closes the palette; "/" opens it, except while typing or if a search field uses this key. */
function useOpen() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const show = () => setOpen(true);
    const listen = (event: KeyboardEvent) => {
      const toggles = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      const searches =
        event.key === "/" && isPlain(event) && !isTyping(event.target) && !document.querySelector('[aria-keyshortcuts="/"]');
      if (!toggles && !searches) return;
      event.preventDefault();
      setOpen((before) => searches || !before);
    };
    opening.addEventListener("open", show);
    document.addEventListener("keydown", listen);
    return () => {
      opening.removeEventListener("open", show);
      document.removeEventListener("keydown", listen);
    };
  }, []);
  return [open, setOpen] as const;
}

/** Keeps text that the person types before the field is loaded and has the focus. */
function useEntry(open: boolean): SearchEntry {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  useEffect(() => {
    if (!open) return undefined;
    const keep = (event: KeyboardEvent) => {
      if (event.key.length !== 1 || !isPlain(event) || document.activeElement === field.current) return;
      event.preventDefault();
      setText((before) => before + event.key);
    };
    document.addEventListener("keydown", keep);
    return () => {
      document.removeEventListener("keydown", keep);
      setText("");
    };
  }, [open]);
  return { field, text, setText };
}

export function Palette({ commands }: { readonly commands: readonly CommandGroup[] }) {
  const [open, setOpen] = useOpen();
  const entry = useEntry(open);
  return (
    <OnDemand wanted={open} load={loadDialog} giveUp={() => setOpen(false)}>
      {(Dialog) => <Dialog commands={commands} entry={entry} open={open} onOpenChange={setOpen} />}
    </OnDemand>
  );
}
