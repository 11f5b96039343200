"use client";

import { Dialog } from "@base-ui/react/dialog";
import { useCallback, useEffect, useRef, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import type { PalettePanel } from "./palette-panel.tsx";
import type { CommandGroup } from "./commands.ts";

/** One palette, opened from the rail, from the menu of small screens, or with Ctrl-K. */
const handle = Dialog.createHandle();

/** A button that opens the palette. */
export function PaletteButton() {
  const hydrated = useHydrated();
  const apple = hydrated && /Mac|iPhone|iPad/.test(navigator.platform);
  return (
    <Dialog.Trigger handle={handle} className="jump" disabled={!hydrated}>
      Search <kbd>{apple ? "⌘ K" : "Ctrl K"}</kbd>
    </Dialog.Trigger>
  );
}

type Panel = typeof PalettePanel;

/** The command palette itself, once for each page. What is in it is loaded before it opens for the first time. */
export function Palette({ commands }: { readonly commands: readonly CommandGroup[] }) {
  const [open, setOpen] = useState(false);
  const [Panel, setPanel] = useState<Panel | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const show = useCallback(
    () =>
      void import("./palette-panel.tsx").then(
        ({ PalettePanel }) => {
          setPanel(() => PalettePanel);
          setOpen(true);
        },
        () => announce("We could not reach the service. Try again."),
      ),
    [],
  );
  useEffect(() => {
    const toggle = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      if (open) setOpen(false);
      else show();
    };
    document.addEventListener("keydown", toggle);
    return () => document.removeEventListener("keydown", toggle);
  }, [open, show]);
  return (
    <Dialog.Root handle={handle} open={open} onOpenChange={(next) => (next ? show() : setOpen(false))}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog palette" aria-label="Search" initialFocus={field}>
          {Panel && <Panel commands={commands} field={field} onClose={() => setOpen(false)} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
