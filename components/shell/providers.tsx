"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { type ReactNode, useState } from "react";
import { Announcements } from "#components/ui/announcements.tsx";
import { Toasts } from "#components/ui/toast.tsx";

export function Providers({ children }: { readonly children: ReactNode }) {
  // Never retry a mutation automatically: only the person may repeat a decision.
  const [client] = useState(() => new QueryClient({ defaultOptions: { mutations: { retry: false } } }));
  return (
    <QueryClientProvider client={client}>
      {/* Keep Base UI from writing style elements, which the Content-Security-Policy would block. */}
      <CSPProvider disableStyleElements>
        {children}
        <Announcements />
        <Toasts />
      </CSPProvider>
    </QueryClientProvider>
  );
}
