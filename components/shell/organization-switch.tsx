"use client";

import { Check } from "lucide-react";
import type { Session } from "#lib/identity/session-schema.ts";
import { useActivateOrganization } from "#components/identity/leave.ts";
import { Menu } from "#components/ui/menu.tsx";
import { Named, type MenuItem } from "#components/ui/menu-face.tsx";
import { businessOf } from "./menu-words.ts";

type Props = {
  readonly organizations: Session["organizations"];
  /** Null if no organization is active, and on the pages of the platform's staff, which belong to no organization. */
  readonly activeId: string | null;
  readonly platform: boolean;
};

const Line = ({ name, text, chosen }: { readonly name: string; readonly text: string; readonly chosen: boolean }) => (
  <>
    <Named name={name} text={text} />
    {chosen && <Check className="icon" aria-label="Active" />}
  </>
);

export function OrganizationSwitch({ organizations, activeId, platform }: Props) {
  const activate = useActivateOrganization();
  const active = organizations.find(({ organizationId }) => organizationId === activeId);
  const name = active?.name ?? (platform ? "Platform" : "No organization");
  const text = active ? businessOf(active.productRoles) : platform ? "Administration" : "Choose one";
  const items: readonly MenuItem[] = [
    ...organizations.map((one) => ({
      key: one.organizationId,
      content: <Line name={one.name} text={businessOf(one.productRoles)} chosen={one.organizationId === activeId} />,
      onSelect: () => activate.send({ organizationId: one.organizationId }),
    })),
    ...(platform
      ? [{ key: "platform", content: <Line name="Platform" text="Administration" chosen={activeId === null} />, href: "/admin" }]
      : []),
    { key: "new", content: "New organization", href: "/onboarding" },
  ];
  return (
    <Menu label="Switch organization" name={name} text={text} picture={active?.logo} disabled={activate.busy} items={items} />
  );
}
