import type { ReactNode } from "react";
import type { Session } from "#lib/identity/session-schema.ts";
import type { Environment, PlatformRole } from "#lib/vocabulary.ts";
import { Brand } from "./brand.tsx";
import { commandsFor } from "./commands.ts";
import { EnvironmentBanner } from "./environment-banner.tsx";
import { NavLinks } from "./nav-links.tsx";
import { entriesFor, groupsFor, roleName, type Section } from "./navigation.ts";
import { OrganizationSwitch } from "./organization-switch.tsx";
import { Palette, PaletteButton } from "./palette.tsx";
import { SmallMenu } from "./small-menu.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";
import type { Theme } from "./theme.ts";
import { UserMenu } from "./user-menu.tsx";

type Props = {
  readonly section: Section;
  readonly session: Session;
  readonly environment: Environment;
  readonly theme: Theme | undefined;
  /** How many things wait behind an address of the menu. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly children: ReactNode;
};

const platformRoleName = (roles: readonly PlatformRole[]): string =>
  `Platform ${roles.filter((role) => role !== "user").join(", ")}`;

function roleOf({ section, session }: Pick<Props, "section" | "session">): string {
  if (section === "platform") return platformRoleName(session.platformRoles);
  return session.activeOrganization ? roleName[session.activeOrganization.membershipRole] : session.user.email;
}

/** The frame of every signed-in page: rail or menu, banner, and the way past them. Pages bring their own h1. */
export function AppShell({ section, session, environment, theme, waiting, children }: Props) {
  const switcher = (
    <OrganizationSwitch
      organizations={session.organizations}
      activeId={section === "platform" ? null : (session.activeOrganization?.organizationId ?? null)}
      platform={entriesFor("platform", session).length > 0}
    />
  );
  const groups = groupsFor(section, session);
  const account = (
    <>
      <UserMenu name={session.user.name} role={roleOf({ section, session })} links={[]} />
      <ThemeSwitch theme={theme} />
    </>
  );
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <EnvironmentBanner environment={environment} />
      <header className="site-menu" aria-label="Site, small screens">
        <div className="menu-bar">
          <Brand />
          <SmallMenu>
            {switcher}
            <PaletteButton />
            <NavLinks groups={groups} waiting={waiting} label="Main, small screens" />
            {account}
          </SmallMenu>
        </div>
      </header>
      <div className="shell">
        <header className="rail" aria-label="Site">
          <div className="rail-held">
            <Brand />
            {switcher}
            <PaletteButton />
            <NavLinks groups={groups} waiting={waiting} label="Main" />
            <div className="rail-foot">{account}</div>
          </div>
        </header>
        <main className="main" id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Palette commands={commandsFor(session)} />
    </>
  );
}
