"use client";

import { Dialog } from "@base-ui/react/dialog";
import type { CommandGroup } from "./commands.ts";
import type { SearchEntry } from "./palette.tsx";
import { PalettePanel } from "./palette-panel.tsx";

type Props = {
  readonly commands: readonly CommandGroup[];
  readonly entry: SearchEntry;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
};

export function PaletteDialog({ commands, entry, open, onOpenChange }: Props) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup
          className="dialog mx-auto mt-[min(6rem,10vh)] mb-auto grid max-h-[min(32rem,calc(100dvh-8rem))] grid-rows-[auto_auto_minmax(0,1fr)] overflow-hidden"
          aria-label="Search"
          initialFocus={entry.field}
        >
          <PalettePanel commands={commands} entry={entry} onClose={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
