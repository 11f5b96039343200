"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { type ReactNode, useState } from "react";
import { Announcements } from "#components/ui/announcements.tsx";
import { Toasts } from "#components/ui/toast.tsx";

export function Providers({ children }: { readonly children: ReactNode }) {
  // A repeat of a decision is the person's to make, never the library's.
  const [client] = useState(() => new QueryClient({ defaultOptions: { mutations: { retry: false } } }));
  return (
    <QueryClientProvider client={client}>
      {/* Base UI writes no style elements, which the Content-Security-Policy would refuse. */}
      <CSPProvider disableStyleElements>
        {children}
        <Announcements />
        <Toasts />
      </CSPProvider>
    </QueryClientProvider>
  );
}
