import type { ReactNode } from "react";
import type { Environment } from "#lib/vocabulary.ts";
import { Brand } from "./brand.tsx";
import { EnvironmentBanner } from "./environment-banner.tsx";
import { SmallMenu } from "./small-menu.tsx";

type Props = {
  readonly environment: Environment;
  readonly head: ReactNode;
  /** Called twice with different accessible names, for large and for small screens; at most one of the two is visible. */
  readonly nav: (label: string) => ReactNode;
  readonly foot: ReactNode;
  readonly children: ReactNode;
};

export function ShellFrame({ environment, head, nav, foot, children }: Props) {
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <EnvironmentBanner environment={environment} />
      <header className="border-b bg-paper md:hidden print:hidden" aria-label="Site, small screens">
        <div className="flex min-h-14 items-center justify-between px-4 py-2">
          <Brand />
          <SmallMenu>
            {head}
            {nav("Main, small screens")}
            {foot}
          </SmallMenu>
        </div>
      </header>
      <div className="min-h-[calc(100vh-2.3rem)] md:grid md:grid-cols-[14rem_minmax(0,1fr)] print:block">
        <header className="border-r max-md:hidden print:hidden" aria-label="Site">
          <div
            className={`sticky top-0 flex flex-col gap-4 overflow-y-auto px-4 py-5 text-sm low:gap-2 low:py-2 *:first:mx-3 *:first:self-start ${
              environment === "sandbox" ? "h-[calc(100vh-2.3125rem)]" : "h-screen"
            }`}
          >
            <Brand />
            <div className="grid shrink-0 gap-3 low:gap-2">{head}</div>
            {/* If the window is low, the links scroll first. The padding leaves room for their focus rings. */}
            <div className="-m-1 min-h-40 overflow-y-auto p-1">{nav("Main")}</div>
            <div className="mt-auto grid shrink-0 gap-2 low:gap-1">{foot}</div>
          </div>
        </header>
        <main
          className="mx-auto w-full max-w-page min-w-0 px-4 pt-6 pb-12 outline-none md:px-10 md:pt-8 md:pb-16 print:p-0"
          id="main"
          tabIndex={-1}
        >
          {children}
        </main>
      </div>
    </>
  );
}
