"use client";

import { Button } from "#components/ui/button.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";

/** Where scripts do not run, the browser's own menu prints. */
export function PrintButton() {
  const hydrated = useHydrated();
  return hydrated ? (
    <Button tone="primary" onClick={() => window.print()}>
      Print
    </Button>
  ) : null;
}
