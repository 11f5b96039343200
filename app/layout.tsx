import type { ReactNode } from "react";
import { Providers } from "#components/shell/providers.tsx";
import { readTheme } from "./theme.ts";
import "./global.css";

export const metadata = {
  title: { default: "Countersign", template: "%s · Countersign" },
  description: "Authorizes and executes the payments that software agents make, under mandates that people write.",
};

export const viewport = { colorScheme: "light dark" };

export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  // The nonce of the Content-Security-Policy is new for each request, so no page may be static: the cookie keeps them from it.
  const theme = await readTheme();
  return (
    <html lang="en" {...(theme && { "data-theme": theme })}>
      <body>
        <Providers>{children}</Providers>
      </body>
    </html>
  );
}
