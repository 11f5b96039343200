import type { NextConfig } from "next";

const headers = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "Cross-Origin-Opener-Policy", value: "same-origin" },
  { key: "Permissions-Policy", value: "camera=(), geolocation=(), microphone=(), payment=()" },
];

/**
 * The Content-Security-Policy of static files, which proxy.tsx does not handle. It allows no scripts. It allows styles, images
 * and fonts because offline.html and the answer for a missing file are pages.
 */
const assetPolicy = [
  "default-src 'none'",
  "style-src 'self' 'unsafe-inline'",
  // The service worker loads pages, and also the page that it shows when there is no connection.
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
const assets = "/(_next/static|_next/image|fonts/|icons/|icon.svg$|favicon.ico$|sw.js$|offline.html$|manifest.webmanifest$)(.*)";

/**
 * The Content-Security-Policy of pages contains a nonce and is set in proxy.tsx. The HSTS header depends on BASE_URL and is set in
 * lib/server/serve.ts.
 */
export default {
  // The build then has the packages that the pages need, which the package of the service contains.
  output: "standalone",
  poweredByHeader: false,
  // The pages process serves files that end in .tsx. The route files that end in .ts are in the server's bundle, so a build
  // leaves them out; in development Next.js serves them too.
  pageExtensions: process.env.NODE_ENV === "development" ? ["tsx", "ts"] : ["tsx"],
  // In development too, an API path with a slash at the end gets a 404 and no redirect.
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  // npm test checks all types, so a build does not need to.
  typescript: { ignoreBuildErrors: true },
  images: { unoptimized: true },
  // The page of the quickstart shows parts of a document.
  turbopack: { rules: { "*.md": { type: "raw" } } },
  // A start may wait for the build, which is faster without build cache, source maps and minified server code.
  experimental: {
    turbopackFileSystemCacheForBuild: false,
    turbopackSourceMaps: false,
    turbopackMinify: { client: true, server: false },
  },
  // These packages are not bundled. An ES module that is not bundled loads asynchronously, together with all modules that import
  // it, so two pages at the same time could see half-loaded modules. So list no ES module that a page imports. The passkey
  // libraries are listed because bundling changes their load order, which breaks them.
  serverExternalPackages: ["@better-auth/passkey", "@simplewebauthn/server", "better-auth", "pino", "prom-client"],
  // Sends the title with the document and not later, because screen readers read the title first.
  htmlLimitedBots: /.*/,
  headers: () =>
    Promise.resolve([
      { source: "/((?!api/).*)", headers },
      { source: assets, headers: [{ key: "Content-Security-Policy", value: assetPolicy }] },
      // A font with font-display: optional is not shown if it arrives late, so browsers cache it for the next page.
      { source: "/fonts/(.*).woff2", headers: [{ key: "Cache-Control", value: "public, max-age=604800" }] },
    ]),
} satisfies NextConfig;
