import type { ReactNode } from "react";
import { Brand } from "#components/shell/brand.tsx";
import { EnvironmentBanner } from "#components/shell/environment-banner.tsx";
import type { Environment } from "#lib/vocabulary.ts";

/** A sheet that is cut in two halves, with a signature on the lower one. */
const Picture = () => (
  <svg className="h-auto w-full max-w-104 fill-none" viewBox="0 0 440 470" aria-hidden="true">
    <path
      className="fill-surface stroke-border-strong"
      d="M10 10H429.4V296.1L429.4 296.1L408.7 300.7L393.8 295.7L376.9 303.0L363.1 291.3L341.9 301.3L336.3 296.5L312.3 300.9L303.1 294.9L287.0 304.4L265.0 292.9L253.5 302.8L236.3 294.1L219.6 300.8L208.1 295.3L186.2 304.8L179.4 293.3L158.7 302.3L143.8 292.1L124.2 300.4L116.3 296.5L97.8 302.6L79.4 296.1L67.7 302.1L46.9 291.7L32.6 300.4L20.0 290.5L10.0 298.0L10 298.0ZM10 316.0L10.0 316.0L20.0 308.5L32.6 318.4L46.9 309.7L67.7 320.1L79.4 314.1L97.8 320.6L116.3 314.5L124.2 318.4L143.8 310.1L158.7 320.3L179.4 311.3L186.2 322.8L208.1 313.3L219.6 318.8L236.3 312.1L253.5 320.8L265.0 310.9L287.0 322.4L303.1 312.9L312.3 318.9L336.3 314.5L341.9 319.3L363.1 309.3L376.9 321.0L393.8 313.7L408.7 318.7L429.4 314.1V450H10Z"
    />
    <path className="stroke-border" d="M10 116H429.4M40 172H399.4M40 206H399.4M40 240H399.4" />
    <path
      className="stroke-border-strong stroke-3 opacity-50"
      d="M40 84h84M399.4 84h-92M40 160h120M399.4 160h-44M40 194h164M399.4 194h-38M40 228h98M399.4 228h-44M40 416h92M249.39999999999998 416h92"
    />
    <path className="stroke-text stroke-9" d="M40 54h132M399.4 54h-104" />
    <path className="stroke-text stroke-5" d="M40 386h88" />
    <path className="stroke-text" d="M399.4 268h-96M399.4 272h-96M40 400h150" />
    <path className="stroke-accent" d="M399.4 400h-150" />
    <path
      className="stroke-accent stroke-[2.5] [stroke-linecap:round] [stroke-linejoin:round]"
      d="M253.39999999999998 392c10-30 18-34 20-26s-8 26-2 26 14-22 20-22 0 20 6 20 10-16 16-16 2 14 8 14 12-10 20-12 20 2 34-8"
    />
  </svg>
);

type Props = { readonly environment: Environment; readonly host: string; readonly title: string; readonly children: ReactNode };

export function SignInFrame({ environment, host, title, children }: Props) {
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <EnvironmentBanner environment={environment} />
      <div className={`grid lg:grid-cols-2 ${environment === "sandbox" ? "min-h-[calc(100vh-2.3125rem)]" : "min-h-screen"}`}>
        <div className="grid grid-cols-1 grid-rows-[auto_1fr_auto] bg-paper px-4 py-6 lg:border-r lg:bg-surface lg:px-10 lg:py-8">
          <header>
            <Brand />
          </header>
          <main
            className="grid w-full max-w-96 grid-cols-1 gap-5 self-start justify-self-center py-8 lg:self-center wrap-anywhere [&_form]:grid [&_form]:gap-4"
            id="main"
            tabIndex={-1}
          >
            <h1 className="text-3xl tracking-display">{title}</h1>
            {children}
          </main>
          <footer className="flex flex-wrap gap-x-5 gap-y-1 text-sm text-muted">
            <span>{host}</span>
            <a href="/api/v1/health/ready">Status</a>
            <a href="/api/v1/openapi.json">API</a>
          </footer>
        </div>
        <aside className="hidden place-items-center content-center gap-8 p-10 lg:grid" aria-label="About Countersign">
          <Picture />
          <p className="max-w-96 text-center text-xl font-560 tracking-heading text-balance">
            Your agents ask. You set the terms, and countersign what matters.
          </p>
        </aside>
      </div>
    </>
  );
}
