import type { NextConfig } from "next";

const headers = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "Cross-Origin-Opener-Policy", value: "same-origin" },
  { key: "Permissions-Policy", value: "camera=(), geolocation=(), microphone=(), payment=()" },
];

/** The policy of static files, which proxy.ts does not handle: they run no scripts. A missing file is answered with a page. */
const assetPolicy = [
  "default-src 'none'",
  "style-src 'self' 'unsafe-inline'",
  // The service worker loads pages and the page that it shows without a connection.
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
const assets = "/(_next/static|_next/image|fonts/|icons/|icon.svg$|favicon.ico$|sw.js$|offline.html$|manifest.webmanifest$)(.*)";

/** The Content-Security-Policy of pages carries a nonce and comes from proxy.ts; HSTS depends on BASE_URL and comes from server.ts. */
export default {
  poweredByHeader: false,
  // A path of the API with a slash at its end is always a 404, never a redirect.
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  // npm test checks all types, so a build does not need to.
  typescript: { ignoreBuildErrors: true },
  images: { unoptimized: true },
  // A first start waits for the build. Without build cache, source maps and minified server code it takes two thirds of the time, and
  // a fifth of the disk space.
  experimental: {
    turbopackFileSystemCacheForBuild: false,
    turbopackSourceMaps: false,
    turbopackMinify: { client: true, server: false },
  },
  // These packages are not bundled. An external ES module and all modules that import it load asynchronously, so that two parallel pages
  // see half-loaded modules. So list only packages that no page imports. The passkey libraries break if they are bundled, because
  // their load order changes.
  serverExternalPackages: ["@better-auth/passkey", "@simplewebauthn/server", "better-auth", "pino", "prom-client"],
  // Sends the title with the document and not later, because screen readers read it first.
  htmlLimitedBots: /.*/,
  headers: () =>
    Promise.resolve([
      { source: "/((?!api/).*)", headers },
      { source: assets, headers: [{ key: "Content-Security-Policy", value: assetPolicy }] },
      // A font that arrives late is not shown, so browsers keep it for the next page.
      { source: "/fonts/(.*).woff2", headers: [{ key: "Cache-Control", value: "public, max-age=604800" }] },
    ]),
} satisfies NextConfig;
