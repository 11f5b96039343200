import { StatusBadge } from "#components/ui/status-badge.tsx";
import type { Stage } from "#lib/payments/stage.ts";

export function StageBadge({ stage }: { readonly stage: Stage }) {
  switch (stage.of) {
    case "outcome":
      return <StatusBadge of="outcome" status={stage.status} />;
    case "reservation":
      return <StatusBadge of="reservation" status={stage.status} />;
    case "checkout":
      return <StatusBadge of="checkout" status={stage.status} />;
    case "repeat":
      return <StatusBadge of="repeat" status={stage.status} />;
    case "settlement":
      return <StatusBadge of="settlement" status={stage.status} />;
  }
}
