"use client";

import { Check } from "lucide-react";
import type { Session } from "#lib/identity/session-schema.ts";
import { useActivateOrganization } from "#components/identity/leave.ts";
import { Menu, MenuAction, MenuLink } from "#components/ui/menu.tsx";
import { businessOf } from "./menu-words.ts";

type Props = {
  readonly organizations: Session["organizations"];
  /** Null in the platform's pages, which belong to no organization. */
  readonly activeId: string | null;
  readonly platform: boolean;
};

type ItemProps = { readonly name: string; readonly text: string; readonly chosen: boolean };

const Line = ({ name, text, chosen }: ItemProps) => (
  <>
    <span className="org-name">
      <strong>{name}</strong>
      <span>{text}</span>
    </span>
    {chosen && <Check className="icon" aria-label="Active" />}
  </>
);

/** Changes the organization that this session acts for. Everything of the other one leaves with the page. */
export function OrganizationSwitch({ organizations, activeId, platform }: Props) {
  const activate = useActivateOrganization();
  const active = organizations.find(({ organizationId }) => organizationId === activeId);
  const name = active?.name ?? (platform ? "Platform" : "No organization");
  const text = active ? businessOf(active.productRoles) : platform ? "Administration" : "Choose one";
  return (
    <Menu label="Switch organization" name={name} text={text} disabled={activate.isPending}>
      {organizations.map((one) => (
        <MenuAction key={one.organizationId} onSelect={() => activate.mutate({ organizationId: one.organizationId })}>
          <Line name={one.name} text={businessOf(one.productRoles)} chosen={one.organizationId === activeId} />
        </MenuAction>
      ))}
      {platform && (
        <MenuLink href="/admin">
          <Line name="Platform" text="Administration" chosen={activeId === null} />
        </MenuLink>
      )}
      <MenuLink href="/onboarding">New organization</MenuLink>
    </Menu>
  );
}
