import { Moment } from "#components/ui/moment.tsx";
import type { CheckoutIntent } from "#lib/approvals/checkout-schema.ts";
import { Fold } from "./fold.tsx";
import { MoreTime } from "./more-time.tsx";

const settlements = { authorized: "Authorized", settled: "Settled" } as const;

type Props = {
  readonly intent: CheckoutIntent;
  readonly isElsewhere: boolean;
  readonly moreTimeUntil: string | undefined;
  readonly className: string;
};

const paidHere = ({ effects, environment }: CheckoutIntent) => {
  const sandbox = environment === "sandbox";
  return [
    ["Moves funds", !effects.movesFunds ? "No" : sandbox ? "Test money only" : "Once it is paid"],
    ["Creates a fulfilment order", effects.createsFulfillmentOrder ? "Yes, at the seller" : "No"],
    ...(effects.settlement === "none" ? [] : [["Settlement", settlements[effects.settlement]] as const]),
    ["May be used", "Once, while the approval lasts"],
  ] as const;
};

const paidElsewhere = [
  ["Moves funds", "No, the agent pays elsewhere"],
  ["Takes effect", "At once, and cannot be taken back"],
  ["Holds the amount", "Until a person closes it"],
] as const;

export function Effects({ intent, isElsewhere, moreTimeUntil, className }: Props) {
  const { expiresAt } = intent;
  const rows = [
    ...(isElsewhere ? paidElsewhere : paidHere(intent)),
    ["Request expires", <Moment key="expires" at={expiresAt} show="short" />],
  ] as const;
  return (
    <Fold
      id="effects"
      title="What approving does"
      note={<span className="lg:hidden">{isElsewhere ? "holds the amount" : "pays once"}</span>}
      className={className}
    >
      <ul className="grid grid-cols-1 gap-2 text-sm">
        {rows.map(([name, value]) => (
          <li key={name} className="grid grid-cols-[1fr_auto] gap-4 not-first:border-t not-first:pt-2">
            <span className="text-muted">{name}</span>
            <strong className="font-560">{value}</strong>
          </li>
        ))}
      </ul>
      {moreTimeUntil !== undefined && (
        <p className="mt-3 text-sm text-muted">
          Nobody can look at it in time? <MoreTime checkoutIntentId={intent.checkoutIntentId} until={moreTimeUntil} />
        </p>
      )}
    </Fold>
  );
}
