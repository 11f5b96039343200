"use client";

import { useSignOut } from "#components/identity/leave.ts";
import { Menu, MenuAction, MenuLink } from "#components/ui/menu.tsx";

type Props = {
  readonly name: string;
  readonly role: string;
  /** The person's own pages: label and address. */
  readonly links: readonly (readonly [label: string, href: string])[];
};

/** Who is signed in, and the way out. */
export function UserMenu({ name, role, links }: Props) {
  const signOut = useSignOut();
  return (
    <Menu className="org user" label="Account menu" name={name} text={role} disabled={signOut.isPending}>
      {links.map(([label, href]) => (
        <MenuLink key={href} href={href}>
          {label}
        </MenuLink>
      ))}
      <MenuAction onSelect={() => signOut.mutate()}>Sign out</MenuAction>
    </Menu>
  );
}
