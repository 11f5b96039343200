"use client";

import { Menu } from "@base-ui/react/menu";
import { Check, ChevronsUpDown } from "lucide-react";
import { useRef } from "react";
import { useHydrated } from "#components/ui/hydrated.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { useActivateOrganization } from "#components/identity/leave.ts";
import { businessOf } from "./navigation.ts";

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
  const hydrated = useHydrated();
  const activate = useActivateOrganization();
  // Beside its button, so that the menu belongs to the same landmark of the page.
  const place = useRef<HTMLSpanElement>(null);
  const active = organizations.find(({ organizationId }) => organizationId === activeId);
  const name = active?.name ?? (platform ? "Platform" : "No organization");
  const text = active ? businessOf(active.productRoles) : platform ? "Administration" : "Choose one";
  return (
    <Menu.Root>
      <Menu.Trigger className="org" disabled={!hydrated || activate.isPending}>
        <span className="org-name">
          <strong>{name}</strong>
          <span>{text}</span>
        </span>
        <span className="sr">Switch organization</span>
        <ChevronsUpDown className="icon" aria-hidden="true" />
      </Menu.Trigger>
      <span ref={place} className="contents" />
      <Menu.Portal container={place}>
        <Menu.Positioner className="float" positionMethod="fixed" align="start" sideOffset={4}>
          <Menu.Popup className="menu-popup min-w-(--anchor-width)">
            {organizations.map((one) => (
              <Menu.Item
                className="menu-item justify-between"
                key={one.organizationId}
                onClick={() => activate.mutate({ organizationId: one.organizationId })}
              >
                <Line name={one.name} text={businessOf(one.productRoles)} chosen={one.organizationId === activeId} />
              </Menu.Item>
            ))}
            {platform && (
              <Menu.LinkItem className="menu-item justify-between" href="/admin">
                <Line name="Platform" text="Administration" chosen={activeId === null} />
              </Menu.LinkItem>
            )}
            <Menu.LinkItem className="menu-item" href="/onboarding">
              New organization
            </Menu.LinkItem>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
