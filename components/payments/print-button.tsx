"use client";

import { Button } from "#components/ui/button.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";

/** Hidden before the scripts run; people can then print from the browser's menu. */
export function PrintButton() {
  const hydrated = useHydrated();
  return hydrated ? (
    <Button tone="primary" onClick={() => window.print()}>
      Print
    </Button>
  ) : null;
}
