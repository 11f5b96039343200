import Link from "next/link";
import { Dated } from "#components/ui/dated.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Payment } from "#lib/payments/payment-schema.ts";

/** What the payment is for, or why it was denied. */
function whatOf({ intent: { resource }, authorization: { policyDecision } }: Payment): string {
  if (policyDecision.outcome === "deny") {
    const because = policyDecision.reasons.find(({ effect }) => effect === "deny");
    if (because) return because.message;
  }
  if (resource?.method !== undefined && resource.pathTemplate !== undefined) return `${resource.method} ${resource.pathTemplate}`;
  return resource?.description ?? "";
}

function State({ payment: { authorization, executions } }: { readonly payment: Payment }) {
  const [newest] = executions;
  if (newest) return <StatusBadge of="settlement" status={newest.settlementStatus} />;
  return <StatusBadge of="outcome" status={authorization.policyDecision.outcome} />;
}

/** The newest payments, each with a link to its page. */
export const RecentPayments = ({ payments }: { readonly payments: readonly Payment[] }) => (
  <ul className="recent">
    {payments.map((payment) => {
      const { intent, authorization } = payment;
      return (
        <li key={authorization.authorizationId}>
          <div>
            <Link href={`/payments/${authorization.authorizationId}`}>
              <Untrusted>{intent.seller.domain ?? "Unknown seller"}</Untrusted>
            </Link>
            <span className="what">
              <Dated>{whatOf(payment)}</Dated>
            </span>
            <span className="what">
              <Moment at={authorization.policyDecision.createdAt} show="short" />
            </span>
          </div>
          <span className="state">
            <State payment={payment} />
          </span>
          <span className="num">
            <Money>{money(intent.amount, intent.asset)}</Money>
          </span>
        </li>
      );
    })}
  </ul>
);
