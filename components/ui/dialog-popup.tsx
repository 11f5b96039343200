"use client";

import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, type RefObject, useRef } from "react";

const DRAWER =
  "fixed inset-y-0 right-0 left-auto z-31 flex w-[min(34rem,100vw)] flex-col overflow-auto border-l bg-raised shadow-float outline-none transition-[opacity,translate] duration-(--settle) ease-standard data-ending-style:translate-x-12 data-ending-style:opacity-0 data-starting-style:translate-x-12 data-starting-style:opacity-0";

type Props = {
  readonly kind: "dialog" | "drawer";
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly insistent: boolean;
  readonly wide: boolean;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly initialFocus?: RefObject<HTMLElement | null>;
  readonly opener: RefObject<HTMLButtonElement | null>;
};

/** dialog.tsx loads this code on demand. */
export function DialogPopup(props: Props) {
  const { kind, title, description, children, footer, insistent, wide, open, onOpenChange, initialFocus, opener } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next, event) => (insistent ? event.cancel() : onOpenChange(next))}>
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Popup
          className={kind === "drawer" ? DRAWER : wide ? "dialog w-[min(44rem,calc(100vw-2rem))]" : "dialog"}
          initialFocus={initialFocus ?? heading}
          onKeyDown={(event) => {
            // Only the dialog with the focus closes: another one below it listens for the key on the document.
            if (event.key === "Escape") event.nativeEvent.stopImmediatePropagation();
          }}
          finalFocus={() => opener.current ?? true}
        >
          <div className="flex items-start justify-between gap-4 px-4 pt-5 md:px-6">
            <div>
              <Base.Title ref={heading} className="wrap-anywhere outline-none" tabIndex={-1}>
                {title}
              </Base.Title>
              {description !== undefined && <Base.Description className="text-sm text-muted">{description}</Base.Description>}
            </div>
            {!insistent && (
              <Base.Close className="close" aria-label="Close">
                <X className="icon" aria-hidden />
              </Base.Close>
            )}
          </div>
          <div className="grid flex-1 grid-cols-1 content-start gap-5 px-4 pt-4 pb-6 md:px-6">{children}</div>
          {footer !== undefined && (
            <div className="sticky bottom-0 flex flex-wrap justify-end gap-3 border-t bg-raised p-4 md:px-6 max-md:[&_.btn]:flex-1">
              {footer}
            </div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
