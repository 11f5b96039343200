"use client";

import { type ComponentProps, createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { buttonClass, type Look } from "./button-class.ts";
import { early, OnDemand } from "./on-demand.tsx";

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

const loadPopup = () => import("./dialog-popup.tsx").then(({ DialogPopup }) => DialogPopup);
const fetching = early(loadPopup);

/** Closes the dialog around it. */
const Closing = createContext(() => {});

/** What dialogs and drawers share: a button at once, and the rest when it is wanted for the first time. */
export function Overlay({ kind, ...props }: DialogProps & { readonly kind: "dialog" | "drawer" }) {
  const { trigger, look, open: held, onOpenChange, insistent = false, wide = false, ...rest } = props;
  const opener = useRef<HTMLButtonElement>(null);
  const [own, setOwn] = useState(false);
  const open = held ?? own;
  const change = useCallback(
    (next: boolean) => {
      setOwn(next);
      onOpenChange?.(next);
    },
    [onOpenChange],
  );
  const close = useCallback(() => change(false), [change]);
  return (
    <Closing value={close}>
      {trigger !== undefined && (
        <Button {...look} ref={opener} aria-haspopup="dialog" aria-expanded={open} onClick={() => change(true)} {...fetching}>
          {trigger}
        </Button>
      )}
      {/* What opens by itself stays open: it may hold what is shown only once. */}
      <OnDemand wanted={open} load={loadPopup} {...(trigger !== undefined && { giveUp: close })}>
        {(Popup) => (
          <Popup {...rest} kind={kind} insistent={insistent} wide={wide} open={open} onOpenChange={change} opener={opener} />
        )}
      </OnDemand>
    </Closing>
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
export const DialogClose = ({ tone, size, ...rest }: Look & Omit<ComponentProps<"button">, "className" | "onClick" | "type">) => (
  <button
    {...rest}
    type="button"
    className={buttonClass({ ...(tone && { tone }), ...(size && { size }) })}
    onClick={useContext(Closing)}
  />
);
