import type { ReactNode } from "react";
import { Brand } from "#components/shell/brand.tsx";
import { EnvironmentBanner } from "#components/shell/environment-banner.tsx";
import type { Environment } from "#lib/vocabulary.ts";

/** The picture: a sheet cut in two halves, the lower one signed. */
const Picture = () => (
  <svg className="art" viewBox="0 0 440 470" aria-hidden="true">
    <path
      className="s"
      d="M10 10H429.4V296.1L429.4 296.1L408.7 300.7L393.8 295.7L376.9 303.0L363.1 291.3L341.9 301.3L336.3 296.5L312.3 300.9L303.1 294.9L287.0 304.4L265.0 292.9L253.5 302.8L236.3 294.1L219.6 300.8L208.1 295.3L186.2 304.8L179.4 293.3L158.7 302.3L143.8 292.1L124.2 300.4L116.3 296.5L97.8 302.6L79.4 296.1L67.7 302.1L46.9 291.7L32.6 300.4L20.0 290.5L10.0 298.0L10 298.0Z"
    />
    <path className="t" d="M40 54h132" />
    <path className="w" d="M40 84h84M399.4 84h-92" />
    <path className="t" d="M399.4 54h-104" />
    <path className="r" d="M10 116H429.4" />
    <path className="r" d="M40 172H399.4" />
    <path className="w" d="M40 160h120M399.4 160h-44" />
    <path className="r" d="M40 206H399.4" />
    <path className="w" d="M40 194h164M399.4 194h-38" />
    <path className="r" d="M40 240H399.4" />
    <path className="w" d="M40 228h98M399.4 228h-44" />
    <path className="d" d="M399.4 268h-96M399.4 272h-96" />
    <path
      className="s"
      d="M10 316.0L10.0 316.0L20.0 308.5L32.6 318.4L46.9 309.7L67.7 320.1L79.4 314.1L97.8 320.6L116.3 314.5L124.2 318.4L143.8 310.1L158.7 320.3L179.4 311.3L186.2 322.8L208.1 313.3L219.6 318.8L236.3 312.1L253.5 320.8L265.0 310.9L287.0 322.4L303.1 312.9L312.3 318.9L336.3 314.5L341.9 319.3L363.1 309.3L376.9 321.0L393.8 313.7L408.7 318.7L429.4 314.1V450H10Z"
    />
    <path className="k" d="M40 400h150" />
    <path className="b" d="M399.4 400h-150" />
    <path className="w" d="M40 416h92M249.39999999999998 416h92" />
    <path className="t2" d="M40 386h88" />
    <path
      className="sig"
      d="M253.39999999999998 392c10-30 18-34 20-26s-8 26-2 26 14-22 20-22 0 20 6 20 10-16 16-16 2 14 8 14 12-10 20-12 20 2 34-8"
    />
  </svg>
);

type Props = { readonly environment: Environment; readonly host: string; readonly title: string; readonly children: ReactNode };

/** The frame of the sign-in pages: the form on the left, a description of the service on the right. */
export function Gate({ environment, host, title, children }: Props) {
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <EnvironmentBanner environment={environment} />
      <div className="gate">
        <div className="form-side">
          <header>
            <Brand />
          </header>
          <main id="main" tabIndex={-1}>
            <h1>{title}</h1>
            {children}
          </main>
          <footer>
            <span>{host}</span>
            <a href="/api/v1/health/ready">Status</a>
            <a href="/api/v1/openapi.json">API</a>
          </footer>
        </div>
        <aside className="art-side" aria-label="About Countersign">
          <Picture />
          <p>Your agents ask. You set the terms, and countersign what matters.</p>
        </aside>
      </div>
    </>
  );
}
