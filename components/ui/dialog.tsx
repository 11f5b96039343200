"use client";

import {
  type ComponentProps,
  createContext,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useRef,
  useState,
} from "react";
import { Button } from "./button.tsx";
import { buttonClass, type Look } from "./button-class.ts";
import { early, OnDemand } from "./on-demand.tsx";

export type DialogProps = {
  /** If omitted, the caller opens the dialog. */
  readonly trigger?: ReactNode;
  readonly look?: Look;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** The footer is outside of the form, so a submit button names the form: `<Button type="submit" form="…">`. */
  readonly footer?: ReactNode;
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
  /** Only a DialogClose or the caller closes the dialog. */
  readonly insistent?: boolean;
  /** Gets the focus when the dialog opens; by default its title. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** Has no effect on drawers. */
  readonly wide?: boolean;
};

const loadPopup = () => import("./dialog-popup.tsx").then(({ DialogPopup }) => DialogPopup);
const fetching = early(loadPopup);

const CloseContext = createContext(() => {});

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
    <CloseContext value={close}>
      {trigger !== undefined && (
        <Button {...look} ref={opener} aria-haspopup="dialog" aria-expanded={open} onClick={() => change(true)} {...fetching}>
          {trigger}
        </Button>
      )}
      {/* Without a trigger, a failed load must not close the dialog: it may contain a value that is shown only once. */}
      <OnDemand wanted={open} load={loadPopup} {...(trigger !== undefined && { giveUp: close })}>
        {(Popup) => (
          <Popup {...rest} kind={kind} insistent={insistent} wide={wide} open={open} onOpenChange={change} opener={opener} />
        )}
      </OnDemand>
    </CloseContext>
  );
}

export const Dialog = (props: DialogProps) => <Overlay kind="dialog" {...props} />;

export const DialogClose = ({ tone, size, ...rest }: Look & Omit<ComponentProps<"button">, "className" | "onClick" | "type">) => (
  <button
    {...rest}
    type="button"
    className={buttonClass({ ...(tone && { tone }), ...(size && { size }) })}
    onClick={useContext(CloseContext)}
  />
);
