"use client";

import { type ComponentProps, createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { buttonClass, type Look } from "./button-class.ts";
import { early, OnDemand } from "./on-demand.tsx";

export type DialogProps = {
  /** The content of the button that opens the dialog. Omitted if the caller controls `open`. */
  readonly trigger?: ReactNode;
  readonly look?: Look;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** The dialog's buttons. A submit button names its form: `<Button type="submit" form="…">`. */
  readonly footer?: ReactNode;
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
  /** Only a DialogClose or the caller closes the dialog. There is no close icon, and Escape and a click outside do nothing. */
  readonly insistent?: boolean;
  /** Wide enough for columns. Has no effect on drawers. */
  readonly wide?: boolean;
};

const loadPopup = () => import("./dialog-popup.tsx").then(({ DialogPopup }) => DialogPopup);
const fetching = early(loadPopup);

/** The function that closes the surrounding dialog. */
const Closing = createContext(() => {});

/** A dialog or drawer. Its button is rendered at once; the code of its content is loaded when it first opens. */
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
      {/* If the dialog was opened without a trigger, an error while loading must not close it, because it may contain a value
         that is shown only once. */}
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

/** A button that closes the surrounding dialog or drawer. */
export const DialogClose = ({ tone, size, ...rest }: Look & Omit<ComponentProps<"button">, "className" | "onClick" | "type">) => (
  <button
    {...rest}
    type="button"
    className={buttonClass({ ...(tone && { tone }), ...(size && { size }) })}
    onClick={useContext(Closing)}
  />
);
