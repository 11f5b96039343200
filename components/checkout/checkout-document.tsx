import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { ApprovalSheet } from "./approval-sheet.tsx";
import { Asks } from "./asks.tsx";
import { ClosedSheet } from "./closed-sheet.tsx";
import { Destination, Elsewhere } from "./destination.tsx";
import { Effects } from "./effects.tsx";
import { Receipt } from "./receipt.tsx";

const open: ReadonlySet<string> = new Set(["previewed", "awaiting_approval"]);
const signed: ReadonlySet<string> = new Set(["approved", "authorized", "executing", "completed"]);

export function stateOf({ intent, approval, now }: CheckoutView): "open" | "signed" | "closed" {
  const lapsed = approval?.status === "expired" || approval?.status === "revoked";
  if (open.has(intent.status)) return Date.parse(intent.expiresAt) > Date.parse(now) ? "open" : "closed";
  return signed.has(intent.status) && approval !== undefined && !lapsed ? "signed" : "closed";
}

const DESTINATION = "lg:col-start-1 lg:row-span-2 lg:row-start-3 lg:border-t";

export function CheckoutDocument({ view }: { readonly view: CheckoutView }) {
  const { approval } = view;
  const signer = approval && view.decided?.by;
  const state = stateOf(view);
  if (state === "open") {
    return (
      <ApprovalSheet view={view}>
        {view.elsewhere ? (
          <Elsewhere elsewhere={view.elsewhere} className={DESTINATION} />
        ) : (
          <Destination destination={view.destination} intent={view.intent} className={DESTINATION} />
        )}
        <Effects
          intent={view.intent}
          isElsewhere={view.elsewhere !== undefined}
          moreTimeUntil={view.moreTimeUntil}
          className="lg:col-start-2 lg:row-start-3 lg:border-t lg:border-l"
        />
        <Asks view={view} className="lg:col-start-2 lg:row-start-4 lg:border-t lg:border-l" />
      </ApprovalSheet>
    );
  }
  if (state === "signed" && approval) return <Receipt view={view} approval={approval} signer={signer ?? ""} />;
  return <ClosedSheet view={view} signer={signer} />;
}
