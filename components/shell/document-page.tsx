import type { ReactNode } from "react";
import type { Environment } from "#lib/vocabulary.ts";
import { Brand } from "./brand.tsx";
import { EnvironmentBanner } from "./environment-banner.tsx";

type Props = {
  readonly environment: Environment;
  readonly narrow?: boolean;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
};

export function DocumentPage({ environment, narrow = false, aside, children }: Props) {
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <EnvironmentBanner environment={environment} />
      <div className={narrow ? "doc doc-narrow" : "doc"}>
        <header className="flex items-center justify-between gap-4 pb-3 text-sm text-muted md:pb-4">
          <Brand />
          {aside}
        </header>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  );
}
