"use client";

import { Menu } from "@base-ui/react/menu";
import { ChevronsUpDown } from "lucide-react";
import { useRef } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import { useSignOut } from "#components/identity/leave.ts";

type Props = {
  readonly name: string;
  readonly role: string;
  /** The person's own pages: label and address. */
  readonly links: readonly (readonly [label: string, href: string])[];
};

/** Who is signed in, and the way out. */
export function UserMenu({ name, role, links }: Props) {
  const hydrated = useHydrated();
  const signOut = useSignOut();
  // Beside its button, so that the menu belongs to the same landmark of the page.
  const place = useRef<HTMLSpanElement>(null);
  return (
    <Menu.Root>
      <Menu.Trigger className="org user" disabled={!hydrated || signOut.isPending}>
        <span className="org-name">
          <strong>{name}</strong>
          <span>{role}</span>
        </span>
        <span className="sr">Account menu</span>
        <ChevronsUpDown className="icon" aria-hidden="true" />
      </Menu.Trigger>
      <span ref={place} className="contents" />
      <Menu.Portal container={place}>
        <Menu.Positioner className="float" positionMethod="fixed" align="start" sideOffset={4}>
          <Menu.Popup className="menu-popup min-w-(--anchor-width)">
            {links.map(([label, href]) => (
              <Menu.LinkItem className="menu-item" key={href} href={href}>
                {label}
              </Menu.LinkItem>
            ))}
            <Menu.Item className="menu-item" onClick={() => signOut.mutate()}>
              Sign out
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
