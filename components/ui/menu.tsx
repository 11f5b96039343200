"use client";

import { Menu as Base } from "@base-ui/react/menu";
import { Ellipsis } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useRef } from "react";

type Props = {
  /** What the menu is of: "Actions of key ci-runner". It is the name of the button. */
  readonly label: string;
  /** What the button shows; three dots where left out. */
  readonly trigger?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
};

/**
 * Actions behind a button.
 *
 *     <Menu label="Actions of key ci-runner">
 *       <MenuLink href="/settings/keys/sa_1">Open</MenuLink>
 *       <MenuAction onSelect={() => setRevoking(true)} danger>Revoke</MenuAction>
 *     </Menu>
 *
 * A dialog that a menu opens stands beside the menu, with its `open` held by the caller.
 */
export function Menu({ label, trigger, className = "btn btn-quiet btn-small", children }: Props) {
  // Beside its button, so that the menu belongs to the same landmark of the page.
  const place = useRef<HTMLSpanElement>(null);
  return (
    <Base.Root>
      <Base.Trigger className={className} aria-label={label}>
        {trigger ?? <Ellipsis className="icon" aria-hidden />}
      </Base.Trigger>
      <span ref={place} />
      <Base.Portal container={place}>
        <Base.Positioner className="float" positionMethod="fixed" align="end" sideOffset={4} collisionPadding={8}>
          <Base.Popup className="menu-popup">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export const MenuLink = ({ href, children }: { readonly href: string; readonly children: ReactNode }) => (
  <Base.LinkItem className="menu-item" render={<Link href={href} />}>
    {children}
  </Base.LinkItem>
);

type ActionProps = { readonly onSelect: () => void; readonly danger?: boolean; readonly children: ReactNode };

export const MenuAction = ({ onSelect, danger = false, children }: ActionProps) => (
  <Base.Item className={danger ? "menu-item danger" : "menu-item"} onClick={onSelect}>
    {children}
  </Base.Item>
);

export const MenuSeparator = () => <Base.Separator className="menu-rule" />;
