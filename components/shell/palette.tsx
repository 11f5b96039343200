"use client";

import { useEffect, useState } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import { early, OnDemand } from "#components/ui/on-demand.tsx";
import type { CommandGroup } from "./commands.ts";

const loadDialog = () => import("./palette-dialog.tsx").then(({ PaletteDialog }) => PaletteDialog);
const fetching = early(loadDialog);

/** Opens the page's only palette from the rail, from the menu of small screens, or with Ctrl-K. */
const opening = new EventTarget();

/** A button that opens the palette. */
export function PaletteButton() {
  const hydrated = useHydrated();
  const apple = hydrated && /Mac|iPhone|iPad/.test(navigator.platform);
  return (
    <button
      type="button"
      className="flex min-h-9 cursor-pointer items-center justify-between rounded-sm border bg-surface px-3 text-sm text-muted hover:border-border-strong md:-mt-3"
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

/** The command palette, rendered once per page. Its code is fetched before it opens for the first time. */
export function Palette({ commands }: { readonly commands: readonly CommandGroup[] }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const show = () => setOpen(true);
    const toggle = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    opening.addEventListener("open", show);
    document.addEventListener("keydown", toggle);
    return () => {
      opening.removeEventListener("open", show);
      document.removeEventListener("keydown", toggle);
    };
  }, []);
  return (
    <OnDemand wanted={open} load={loadDialog} giveUp={() => setOpen(false)}>
      {(Dialog) => <Dialog commands={commands} open={open} onOpenChange={setOpen} />}
    </OnDemand>
  );
}
