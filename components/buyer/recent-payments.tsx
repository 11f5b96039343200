import Link from "next/link";
import { itemOf, payeeOf } from "#components/payments/payee.ts";
import { StageBadge } from "#components/payments/stage-badge.tsx";
import { Dated } from "#components/ui/dated.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Payment } from "#lib/payments/payment-schema.ts";
import type { Stage } from "#lib/payments/stage.ts";

function whatOf({ intent: { resource, reference = "" }, authorization: { policyDecision } }: Payment): string {
  if (policyDecision.outcome === "deny") {
    const because = policyDecision.reasons.find(({ effect }) => effect === "deny");
    if (because) return because.message;
  }
  return resource ? itemOf(resource) : reference;
}

/** `stage` is where the payment is now; without it, the badge shows what was decided or settled. */
export type RecentPayment = Payment & { readonly stage?: Stage };

function State({ payment: { authorization, executions, stage } }: { readonly payment: RecentPayment }) {
  const [newest] = executions;
  if (stage) return <StageBadge stage={stage} />;
  if (newest) return <StatusBadge of="settlement" status={newest.settlementStatus} />;
  return <StatusBadge of="outcome" status={authorization.policyDecision.outcome} />;
}

export const RecentPayments = ({ payments }: { readonly payments: readonly RecentPayment[] }) => (
  <ul className="divide-y">
    {payments.map((payment) => {
      const { intent, authorization } = payment;
      return (
        <li
          key={authorization.authorizationId}
          className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-1 px-4 py-3 text-sm md:grid-cols-[minmax(0,1fr)_auto_7.5rem] md:px-5"
        >
          <div>
            <Link
              className="font-560 wrap-anywhere text-text no-underline decoration-auto hover:underline"
              href={`/payments/${authorization.authorizationId}`}
            >
              <Untrusted>{payeeOf(intent)}</Untrusted>
            </Link>
            <span className="block wrap-anywhere text-muted">
              <Dated>{whatOf(payment)}</Dated>
            </span>
            <span className="block wrap-anywhere text-muted">
              <Moment at={authorization.policyDecision.createdAt} show="short" />
            </span>
          </div>
          <span className="max-md:col-start-1 max-md:row-start-2">
            <State payment={payment} />
          </span>
          <span className="num font-560 max-md:col-start-2 max-md:row-start-1">
            <Money>{money(intent.amount, intent.asset)}</Money>
          </span>
        </li>
      );
    })}
  </ul>
);
