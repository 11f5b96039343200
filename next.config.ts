import type { NextConfig } from "next";

const headers = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "Cross-Origin-Opener-Policy", value: "same-origin" },
  { key: "Permissions-Policy", value: "camera=(), geolocation=(), microphone=(), payment=()" },
];

/** Of what proxy.ts leaves out, which is the same for everybody: nothing of it runs. What is missing there is answered by a page. */
const assetPolicy = [
  "default-src 'none'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
const assets = "/(_next/static|_next/image|fonts/|icon.svg$|favicon.ico$)(.*)";

/** The Content-Security-Policy of pages carries a nonce and comes from proxy.ts; HSTS depends on BASE_URL and comes from server.ts. */
export default {
  poweredByHeader: false,
  // A path of the API with a slash at its end is a 404 by every way in, not a redirect.
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  // npm test checks the types of everything, tests included; a start does not need to.
  typescript: { ignoreBuildErrors: true },
  images: { unoptimized: true },
  // A first start waits for the build. A cache for the next one, source maps that are neither served nor read, and minified code for the
  // server, whose traces are read without them, would be a third of that time, and four fifths of what stays on the disk.
  experimental: {
    turbopackFileSystemCacheForBuild: false,
    turbopackSourceMaps: false,
    turbopackMinify: { client: true, server: false },
  },
  // What stays in node_modules. An ES module that does is loaded asynchronously, and so is every module of ours that
  // imports it: two pages asked for at the same moment then see each other's half-loaded modules. So it is only what no page
  // imports. Bundled, the passkey libraries lose the order in which they load.
  serverExternalPackages: ["@better-auth/passkey", "@simplewebauthn/server", "better-auth", "pino", "prom-client"],
  // The title comes with the document, not after it: screen readers say it first.
  htmlLimitedBots: /.*/,
  headers: () =>
    Promise.resolve([
      { source: "/((?!api/).*)", headers },
      { source: assets, headers: [{ key: "Content-Security-Policy", value: assetPolicy }] },
    ]),
} satisfies NextConfig;
