import type { ReactNode } from "react";
import { Providers } from "#components/shell/providers.tsx";
import { RegisterWorker } from "#components/shell/register-worker.tsx";
import { readTheme } from "./theme.ts";
import "./global.css";

export const metadata = {
  title: { default: "Countersign", template: "%s · Countersign" },
  description: "Authorizes and executes the payments that software agents make, under mandates that people write.",
  manifest: "/manifest.webmanifest",
  icons: { icon: { url: "/icon.svg", type: "image/svg+xml", sizes: "any" }, apple: "/icons/apple-180.png" },
  appleWebApp: { capable: true, title: "Countersign" },
};

export const viewport = {
  colorScheme: "light dark",
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#eef5f0" },
    { media: "(prefers-color-scheme: dark)", color: "#0b1313" },
  ],
};

export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  // Reading a cookie makes Next.js render every page for each request, so that its HTML has the nonce of this request.
  const theme = await readTheme();
  return (
    <html lang="en" {...(theme && { "data-theme": theme })}>
      <head>
        <link rel="preload" href="/fonts/inter-latin-opsz-normal.woff2" as="font" type="font/woff2" crossOrigin="anonymous" />
      </head>
      <body>
        <Providers>{children}</Providers>
        <RegisterWorker />
      </body>
    </html>
  );
}
