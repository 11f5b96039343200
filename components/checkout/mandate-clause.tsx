import { Bar, BarKey, type BarPart } from "#components/ui/bar.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { Dated } from "#components/ui/dated.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { visible } from "#lib/visible-text.ts";
import type { BudgetView, CheckoutView, MandateView } from "#lib/approvals/checkout-view.ts";
import { Fold } from "./fold.tsx";
import { spanName } from "./names.ts";
import { tightest } from "./tightest.ts";

export const barParts = ({ spent, heldByOthers, availableAfter }: BudgetView, charged: string): readonly BarPart[] => [
  { kind: "used", amount: spent },
  { kind: "held", amount: heldByOthers },
  { kind: availableAfter === undefined ? "over" : "this", amount: charged },
];

function Budget({ budget, charged }: { readonly budget: BudgetView; readonly charged: string }) {
  const { unit, limit, spent, heldByOthers, available, availableAfter } = budget;
  const left = { kind: "left", name: "Remaining after it" } as const;
  return (
    <>
      <Bar large limit={limit} parts={barParts(budget, charged)} />
      <BarKey
        unit={unit}
        entries={[
          { kind: "used", name: "Used", amount: spent },
          ...(Number(heldByOthers) > 0 ? [{ kind: "held", name: "Held", amount: heldByOthers } as const] : []),
          { kind: "this", name: "This payment", amount: charged },
          availableAfter === undefined
            ? { ...left, amount: available, text: `not enough: ${money(available, unit)} left` }
            : { ...left, amount: availableAfter },
        ]}
      />
    </>
  );
}

const remaining = (mandate: MandateView): string => {
  if (!mandate.match) return mandate.obstacles[0] ?? "Does not cover this payment";
  const budget = tightest(mandate);
  return budget?.availableAfter === undefined
    ? `${money(mandate.available, mandate.asset)} remain before this payment`
    : `${money(budget.availableAfter, budget.unit)} remain after this payment`;
};

type Props = {
  readonly view: CheckoutView;
  readonly mandate: MandateView | undefined;
  /** Absent if the person may not decide; the choices are then disabled. */
  readonly onChoose?: (mandateId: string) => void;
};

function Choices({ view, mandate, onChoose }: Props) {
  const asked = mustChoose(view, mandate);
  const hydrated = useHydrated();
  const list = (
    <fieldset className="choices mt-3" disabled={!hydrated}>
      <legend className="sr">Mandate for this payment</legend>
      {view.mandates.map((one) => (
        <Choice
          key={one.mandateId}
          type="radio"
          name="mandateId"
          value={one.mandateId}
          checked={one.mandateId === mandate?.mandateId}
          disabled={!one.match || onChoose === undefined}
          onChange={() => onChoose?.(one.mandateId)}
        >
          <strong>
            <bdi>{visible(one.name)}</bdi>
          </strong>
          <span>
            <Dated>{remaining(one)}</Dated>
          </span>
        </Choice>
      ))}
    </fieldset>
  );
  if (asked) return list;
  // If the payment was already requested under this mandate, the person cannot choose a different mandate.
  const bound = view.intent.mandateStatus === "approval_required" && view.intent.mandateId !== undefined;
  if (view.mandates.length < 2 || bound) return null;
  return (
    <details>
      <summary>Pay under another mandate</summary>
      {list}
    </details>
  );
}

export const mustChoose = (view: CheckoutView, mandate: MandateView | undefined): boolean =>
  mandate === undefined && view.mandates.some(({ match }) => match);

export function MandateClause({ view, mandate, onChoose, className }: Props & { readonly className: string }) {
  const budget = mandate && tightest(mandate);
  const note = mandate && <Untrusted>{mandate.name}</Untrusted>;
  return (
    <Fold
      id="mandate"
      title="Mandate"
      {...(note && { note: <span className="lg:hidden">{note}</span> })}
      open={mustChoose(view, mandate)}
      className={className}
    >
      {mandate === undefined ? (
        <p className="text-muted text-sm">
          {mustChoose(view, mandate) ? "More than one mandate covers this. Choose one." : "None covers this payment."}
        </p>
      ) : (
        <>
          <div className="mb-2 flex items-baseline justify-between gap-3 text-sm">
            <strong className="text-base/5 font-560 wrap-anywhere">
              <Untrusted>{mandate.name}</Untrusted>
            </strong>
            <span className="text-muted">
              {budget ? (
                <>
                  <Money>{money(budget.limit, budget.unit)}</Money> {spanName(budget.window)}
                </>
              ) : (
                <>
                  <Money>{money(mandate.perPayment, mandate.asset)}</Money> a payment
                </>
              )}
            </span>
          </div>
          {budget && <Budget budget={budget} charged={mandate.charged} />}
          {mandate.obstacles.length > 0 && (
            <p className="text-sm text-danger mt-2">
              <Dated>{mandate.obstacles[0] ?? ""}</Dated>
            </p>
          )}
        </>
      )}
      <Choices view={view} mandate={mandate} {...(onChoose && { onChoose })} />
    </Fold>
  );
}
