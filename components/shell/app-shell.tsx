import type { ReactNode } from "react";
import type { Session } from "#lib/identity/session-schema.ts";
import type { Environment, PlatformRole } from "#lib/vocabulary.ts";
import { AppBadge } from "./app-badge.tsx";
import { commandsFor } from "./commands-for.ts";
import { KeepSession } from "./keep-session.tsx";
import { NavLinks } from "./nav-links.tsx";
import { roleName } from "./menu-words.ts";
import { entriesFor, groupsFor, type Section } from "./navigation.ts";
import { OrganizationSwitch } from "./organization-switch.tsx";
import { Palette, PaletteButton } from "./palette.tsx";
import { ShellFrame } from "./shell-frame.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";
import type { Theme } from "./theme.ts";
import { UserMenu } from "./user-menu.tsx";

type Props = {
  readonly section: Section;
  readonly session: Session;
  readonly environment: Environment;
  readonly theme: Theme | undefined;
  /** The number to show at a menu entry, by the address of the entry: "/approvals" → 2. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly children: ReactNode;
};

const platformRoleName = (roles: readonly PlatformRole[]): string =>
  `Platform ${roles.filter((role) => role !== "user").join(", ")}`;

function roleOf({ section, session }: Pick<Props, "section" | "session">): string {
  if (section === "platform") return platformRoleName(session.platformRoles);
  return session.activeOrganization ? roleName[session.activeOrganization.membershipRole] : session.user.email;
}

const accountLinks = [
  ["Get started", "/get-started"],
  ["Documentation", "/docs/quickstart"],
] as const;

/** Each page renders its own h1 heading. */
export function AppShell({ section, session, environment, theme, waiting, children }: Props) {
  const groups = groupsFor(section, session);
  return (
    <>
      <ShellFrame
        environment={environment}
        head={
          <>
            <OrganizationSwitch
              organizations={session.organizations}
              activeId={section === "platform" ? null : (session.activeOrganization?.organizationId ?? null)}
              platform={entriesFor("platform", session).length > 0}
            />
            <PaletteButton />
          </>
        }
        nav={(label) => <NavLinks groups={groups} waiting={waiting} label={label} />}
        foot={
          <>
            <UserMenu name={session.user.name} role={roleOf({ section, session })} links={accountLinks} />
            <ThemeSwitch theme={theme} />
          </>
        }
      >
        {children}
      </ShellFrame>
      <KeepSession />
      {section === "organization" && <AppBadge count={waiting["/approvals"] ?? 0} />}
      <Palette commands={commandsFor(session)} />
    </>
  );
}
