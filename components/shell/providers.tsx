"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { type ReactNode, useState } from "react";
import { Proofs } from "#components/security/proofs.tsx";
import { Announcements } from "#components/ui/announcements.tsx";
import { Toasts } from "#components/ui/toast.tsx";

export function Providers({ children }: { readonly children: ReactNode }) {
  // Do not let TanStack Query retry mutations, because a retry without an idempotency key could do an action twice.
  const [client] = useState(() => new QueryClient({ defaultOptions: { mutations: { retry: false } } }));
  return (
    <QueryClientProvider client={client}>
      {/* Keep Base UI from writing style elements, because the Content-Security-Policy would block them. */}
      <CSPProvider disableStyleElements>
        {children}
        <Proofs />
        <Announcements />
        <Toasts />
      </CSPProvider>
    </QueryClientProvider>
  );
}
