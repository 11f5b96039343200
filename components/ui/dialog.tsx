"use client";

import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ComponentProps, type ReactNode, useRef } from "react";
import { buttonClass } from "./button.tsx";

type Look = NonNullable<Parameters<typeof buttonClass>[0]>;

export type DialogProps = {
  /** What the button that opens it says. Left out where `open` is held by the caller. */
  readonly trigger?: ReactNode;
  readonly look?: Look;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** Its buttons. A submit button names its form: `<Button type="submit" form="…">`. */
  readonly footer?: ReactNode;
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
  /** Closed by a DialogClose or by its caller alone: no Escape, no press beside it, no cross. */
  readonly insistent?: boolean;
  /** Room for columns; drawers have one width. */
  readonly wide?: boolean;
};

const insist = (event: Base.Root.ChangeEventDetails) => {
  if (event.reason !== "close-press" && event.reason !== "trigger-press") event.cancel();
};

const Cross = () => (
  <Base.Close className="close" aria-label="Close">
    <X className="icon" aria-hidden />
  </Base.Close>
);

/** What dialogs and drawers share: the focus goes to the heading, and back to what opened it. */
export function Overlay({ kind, ...props }: DialogProps & { readonly kind: "dialog" | "drawer" }) {
  const { trigger, look, title, description, children, footer, open, onOpenChange, insistent = false, wide = false } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <Base.Root
      {...(open !== undefined && { open })}
      onOpenChange={(next, event) => {
        if (insistent && !next) insist(event);
        if (!event.isCanceled) onOpenChange?.(next);
      }}
    >
      {trigger !== undefined && <Base.Trigger className={buttonClass(look)}>{trigger}</Base.Trigger>}
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Popup className={wide ? `${kind} wide` : kind} initialFocus={heading}>
          <div className="dialog-head">
            <div>
              <Base.Title ref={heading} tabIndex={-1}>
                {title}
              </Base.Title>
              {description !== undefined && <Base.Description className="small muted">{description}</Base.Description>}
            </div>
            {!insistent && <Cross />}
          </div>
          <div className="dialog-body">{children}</div>
          {footer !== undefined && <div className="dialog-foot">{footer}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/**
 * A dialog above the page.
 *
 *     <Dialog trigger="Rename" title="Rename the key" footer={<><DialogClose>Cancel</DialogClose><Button …>Rename</Button></>}>
 *       <Field label="Name" … />
 *     </Dialog>
 */
export const Dialog = (props: DialogProps) => <Overlay kind="dialog" {...props} />;

/** A button that closes the dialog or the drawer around it. */
export const DialogClose = ({ tone, size, ...rest }: Look & Omit<ComponentProps<"button">, "className">) => (
  <Base.Close {...rest} className={buttonClass({ ...(tone && { tone }), ...(size && { size }) })} />
);
