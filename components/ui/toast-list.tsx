"use client";

import { Toast as Base } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { useEffect } from "react";

type Props = {
  /** The messages that are not shown yet. */
  readonly texts: readonly string[];
  readonly onShown: () => void;
};

function List({ texts, onShown }: Props) {
  const { toasts, add } = Base.useToastManager();
  useEffect(() => {
    if (texts.length === 0) return;
    for (const title of texts) add({ title });
    onShown();
  }, [texts, add, onShown]);
  return toasts.map((one) => (
    <Base.Root key={one.id} toast={one} className="toast">
      <Base.Title render={<p />}>{one.title}</Base.Title>
      <Base.Close className="close" aria-label="Close">
        <X className="icon" aria-hidden />
      </Base.Close>
    </Base.Root>
  ));
}

/** The toasts. Loaded with the first one. */
export const ToastList = (props: Props) => (
  <Base.Provider>
    <Base.Portal>
      <Base.Viewport className="toasts">
        <List {...props} />
      </Base.Viewport>
    </Base.Portal>
  </Base.Provider>
);
