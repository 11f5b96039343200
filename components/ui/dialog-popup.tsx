"use client";

import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, type RefObject, useRef } from "react";

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
  /** The button that opens the dialog, if it has one. */
  readonly opener: RefObject<HTMLButtonElement | null>;
};

/** Shared by dialogs and drawers. The focus moves to the heading, and back to the opener on close. Loaded on demand. */
export function DialogPopup(props: Props) {
  const { kind, title, description, children, footer, insistent, wide, open, onOpenChange, opener } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next, event) => (insistent ? event.cancel() : onOpenChange(next))}>
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Popup className={wide ? `${kind} wide` : kind} initialFocus={heading} finalFocus={() => opener.current ?? true}>
          <div className="dialog-head">
            <div>
              <Base.Title ref={heading} tabIndex={-1}>
                {title}
              </Base.Title>
              {description !== undefined && <Base.Description className="small muted">{description}</Base.Description>}
            </div>
            {!insistent && (
              <Base.Close className="close" aria-label="Close">
                <X className="icon" aria-hidden />
              </Base.Close>
            )}
          </div>
          <div className="dialog-body">{children}</div>
          {footer !== undefined && <div className="dialog-foot">{footer}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
