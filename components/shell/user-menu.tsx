"use client";

import { useSignOut } from "#components/identity/leave.ts";
import { Menu } from "#components/ui/menu.tsx";

type Props = {
  readonly name: string;
  readonly role: string;
  readonly links: readonly (readonly [label: string, href: string])[];
};

export function UserMenu({ name, role, links }: Props) {
  const signOut = useSignOut();
  return (
    <Menu
      quiet
      label="Account menu"
      name={name}
      text={role}
      disabled={signOut.busy}
      items={[
        ...links.map(([label, href]) => ({ key: href, content: label, href })),
        { key: "sign-out", content: "Sign out", onSelect: () => signOut.send() },
      ]}
    />
  );
}
