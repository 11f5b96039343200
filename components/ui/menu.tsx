"use client";

import { Menu as Base } from "@base-ui/react/menu";
import { ChevronsUpDown } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useRef } from "react";
import { useHydrated } from "./hydrated.ts";

type Props = {
  /** What the menu does: "Switch organization". It ends the name of the button, which begins with what is chosen. */
  readonly label: string;
  /** What is chosen, and a line below it. */
  readonly name: string;
  readonly text: string;
  readonly className?: string;
  readonly disabled?: boolean;
  readonly children: ReactNode;
};

/**
 * Choices behind a button that says what is chosen.
 *
 *     <Menu label="Switch organization" name="Acme" text="Buying">
 *       <MenuAction onSelect={() => activate(id)}>Globex</MenuAction>
 *       <MenuLink href="/onboarding">New organization</MenuLink>
 *     </Menu>
 *
 * A dialog that a menu opens stands beside the menu, with its `open` held by the caller.
 */
export function Menu({ label, name, text, className = "org", disabled = false, children }: Props) {
  const hydrated = useHydrated();
  // Beside its button, so that the menu belongs to the same landmark of the page.
  const place = useRef<HTMLSpanElement>(null);
  return (
    <Base.Root>
      <Base.Trigger className={className} disabled={!hydrated || disabled}>
        <span className="org-name">
          <strong>{name}</strong>
          <span>{text}</span>
        </span>
        <span className="sr">{label}</span>
        <ChevronsUpDown className="icon" aria-hidden="true" />
      </Base.Trigger>
      <span ref={place} className="contents" />
      <Base.Portal container={place}>
        <Base.Positioner className="float" positionMethod="fixed" align="start" sideOffset={4} collisionPadding={8}>
          <Base.Popup className="menu-popup min-w-(--anchor-width)">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export const MenuLink = ({ href, children }: { readonly href: string; readonly children: ReactNode }) => (
  <Base.LinkItem className="menu-item justify-between" render={<Link href={href} prefetch={false} />}>
    {children}
  </Base.LinkItem>
);

export const MenuAction = ({ onSelect, children }: { readonly onSelect: () => void; readonly children: ReactNode }) => (
  <Base.Item className="menu-item justify-between" onClick={onSelect}>
    {children}
  </Base.Item>
);
