"use client";

import { Toast as Base } from "@base-ui/react/toast";
import { X } from "lucide-react";

const manager = Base.createToastManager();

/**
 * Says for a few seconds that something that can be undone is done, as "Saved". What concerns money stands on the page instead.
 *
 *     toast("Saved as version 4")
 */
export function toast(text: string): void {
  manager.add({ title: text });
}

function List() {
  const { toasts } = Base.useToastManager();
  return toasts.map((one) => (
    <Base.Root key={one.id} toast={one} className="toast">
      <Base.Title render={<p />}>{one.title}</Base.Title>
      <Base.Close className="close" aria-label="Close">
        <X className="icon" aria-hidden />
      </Base.Close>
    </Base.Root>
  ));
}

/** Where toasts appear; once for the whole of the page. */
export const Toasts = () => (
  <Base.Provider toastManager={manager}>
    <Base.Portal>
      <Base.Viewport className="toasts">
        <List />
      </Base.Viewport>
    </Base.Portal>
  </Base.Provider>
);
