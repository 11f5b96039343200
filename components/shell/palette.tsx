"use client";

import { Dialog } from "@base-ui/react/dialog";
import dynamic from "next/dynamic";
import { useEffect, useState } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import type { CommandGroup } from "./commands.ts";

const PalettePanel = dynamic(() => import("./palette-panel.tsx").then(({ PalettePanel }) => PalettePanel), {
  loading: () => <p className="palette-empty">Loading</p>,
});

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

/** The command palette itself, once for each page. */
export function Palette({ commands }: { readonly commands: readonly CommandGroup[] }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const toggle = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      setOpen((now) => !now);
    };
    document.addEventListener("keydown", toggle);
    return () => document.removeEventListener("keydown", toggle);
  }, []);
  return (
    <Dialog.Root handle={handle} open={open} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog palette" aria-label="Search">
          <PalettePanel commands={commands} onClose={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
