import type { ReactNode } from "react";
import type { Environment } from "#lib/vocabulary.ts";
import { Brand } from "./brand.tsx";
import { EnvironmentBanner } from "./environment-banner.tsx";
import { SmallMenu } from "./small-menu.tsx";

type Props = {
  readonly environment: Environment;
  /** Shown below the logo: the organization or platform that the pages belong to. */
  readonly head: ReactNode;
  /** Renders the links with the landmark's label. Called twice, for large and small screens, of which one is visible. */
  readonly nav: (label: string) => ReactNode;
  readonly foot: ReactNode;
  readonly children: ReactNode;
};

/** The rail or menu, the banner, and the skip link. */
export function ShellFrame({ environment, head, nav, foot, children }: Props) {
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
            {head}
            {nav("Main, small screens")}
            {foot}
          </SmallMenu>
        </div>
      </header>
      <div className="shell">
        <header className="rail" aria-label="Site">
          <div className="rail-held">
            <Brand />
            {head}
            {nav("Main")}
            <div className="rail-foot">{foot}</div>
          </div>
        </header>
        <main className="main" id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  );
}
