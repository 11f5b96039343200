"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Announcements } from "#components/ui/announcements.tsx";

export function Providers({ children }: { readonly children: ReactNode }) {
  // A repeat of a decision is the person's to make, never the library's.
  const [client] = useState(() => new QueryClient({ defaultOptions: { mutations: { retry: false } } }));
  return (
    <QueryClientProvider client={client}>
      {children}
      <Announcements />
    </QueryClientProvider>
  );
}
