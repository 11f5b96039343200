"use client";

import { Toast as Base } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { useEffect } from "react";

type Props = {
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
    <Base.Root
      key={one.id}
      toast={one}
      className="flex items-center justify-between gap-3 rounded-md border bg-raised px-4 py-3 text-sm shadow-float transition-opacity duration-(--steady) ease-standard data-ending-style:opacity-0 data-starting-style:opacity-0"
    >
      <Base.Title className="min-w-0 wrap-anywhere" render={<p />}>
        {one.title}
      </Base.Title>
      <Base.Close className="close -m-1.5 flex-none" aria-label="Close">
        <X className="icon" aria-hidden />
      </Base.Close>
    </Base.Root>
  ));
}

/** This code is loaded with the first message. */
export const ToastList = (props: Props) => (
  <Base.Provider>
    <Base.Portal>
      <Base.Viewport className="fixed right-4 bottom-4 z-40 grid w-[min(22rem,calc(100vw-2rem))] gap-2">
        <List {...props} />
      </Base.Viewport>
    </Base.Portal>
  </Base.Provider>
);
