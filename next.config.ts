import type { NextConfig } from "next";

const headers = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
  { key: "X-Frame-Options", value: "DENY" },
  { key: "Cross-Origin-Opener-Policy", value: "same-origin" },
  { key: "Permissions-Policy", value: "camera=(), geolocation=(), microphone=(), payment=()" },
];

/** The Content-Security-Policy carries a nonce and comes from proxy.ts; HSTS depends on BASE_URL and comes from server.ts. */
export default {
  poweredByHeader: false,
  // A path of the API with a slash at its end is a 404 by every way in, not a redirect.
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  // npm test checks the types of everything, tests included; a start does not need to.
  typescript: { ignoreBuildErrors: true },
  images: { unoptimized: true },
  // What stays in node_modules: bundled, the passkey libraries lose the order in which they load.
  serverExternalPackages: [
    "@better-auth/passkey",
    "@simplewebauthn/server",
    "better-auth",
    "drizzle-orm",
    "pino",
    "postgres",
    "prom-client",
    "viem",
  ],
  headers: () => Promise.resolve([{ source: "/((?!api/).*)", headers }]),
} satisfies NextConfig;
