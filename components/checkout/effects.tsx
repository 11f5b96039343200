import { Moment } from "#components/ui/moment.tsx";
import type { CheckoutIntent } from "#lib/approvals/checkout-schema.ts";
import { Fold } from "./fold.tsx";
import { MoreTime } from "./more-time.tsx";

const settlements = { authorized: "Authorized", settled: "Settled" } as const;

type Props = { readonly intent: CheckoutIntent; readonly moreTimeUntil: string | undefined; readonly className: string };

export function Effects({ intent, moreTimeUntil, className }: Props) {
  const { effects, environment, expiresAt } = intent;
  const sandbox = environment === "sandbox";
  const rows = [
    ["Moves funds", !effects.movesFunds ? "No" : sandbox ? "Test money only" : "Once it is paid"],
    ["Creates a fulfilment order", effects.createsFulfillmentOrder ? "Yes, at the seller" : "No"],
    ...(effects.settlement === "none" ? [] : [["Settlement", settlements[effects.settlement]] as const]),
    ["May be used", "Once, while the approval lasts"],
    ["Request expires", <Moment key="expires" at={expiresAt} show="short" />],
  ] as const;
  return (
    <Fold id="effects" title="What approving does" note={<span className="lg:hidden">pays once</span>} className={className}>
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
