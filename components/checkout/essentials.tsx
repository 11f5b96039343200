import type { ReactNode } from "react";
import { accountText } from "#components/payments/payee.ts";
import { Bar } from "#components/ui/bar.tsx";
import { Clamp } from "#components/ui/clamp.tsx";
import { Dated } from "#components/ui/dated.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView, LineView, MandateView } from "#lib/approvals/checkout-view.ts";
import type { AskRule } from "#lib/mandates/policy/ask-rules.ts";
import { barParts } from "./mandate-clause.tsx";
import { lineKey, spanName } from "./names.ts";
import { tightest } from "./tightest.ts";

type Props = { readonly view: CheckoutView; readonly mandate: MandateView | undefined };

/** A part of the sentence that starts with "Asks". */
function Rule({ rule }: { readonly rule: AskRule }) {
  switch (rule.rule) {
    case "above":
      return (
        <>
          above{" "}
          <strong>
            <Money>{money(rule.limit, rule.unit)}</Money>
          </strong>
        </>
      );
    case "always":
      return <>about every payment</>;
    case "firstPayment":
      return <>about the first payment to a seller</>;
    case "records":
      return <>about this payment that is made elsewhere</>;
    case "cards":
      return <>about this purchase by card</>;
    case "passkey":
      return <>for a passkey{rule.who === "policy" ? "" : `, as the ${rule.who} demands`}</>;
  }
}

function Why({ view, mandate }: Props) {
  if (mandate === undefined || !mandate.match) {
    return view.mandates.some(({ match }) => match) ? (
      "Choose the mandate that pays."
    ) : (
      <span className="text-danger">No mandate of yours covers this payment as it is. You can decline, or change a mandate.</span>
    );
  }
  const name = <Untrusted>{mandate.name}</Untrusted>;
  // Show the rules before the mandate's name, because the name may be long.
  return mandate.asks.length === 0 ? (
    <>
      {view.agent.isServiceAccount ? "The agent asks before it buys" : "An order is confirmed before it is paid"}, under the
      mandate {name}
    </>
  ) : (
    <>
      {mandate.asks.map((rule, at) => (
        <span key={rule.rule + (rule.rule === "passkey" ? rule.who : "")}>
          {at === 0 ? "Asks " : ", and "}
          <Rule rule={rule} />
        </span>
      ))}
      : mandate {name}
    </>
  );
}

function Remains({ mandate }: { readonly mandate: MandateView }) {
  const budget = tightest(mandate);
  if (!mandate.match) {
    return (
      <span className="text-danger">
        <Dated>{mandate.obstacles[0] ?? "This mandate does not cover the payment."}</Dated>
      </span>
    );
  }
  if (budget === undefined) {
    return (
      <>
        Up to <Money>{money(mandate.perPayment, mandate.asset)}</Money> a payment
      </>
    );
  }
  const { limit, unit, window, available, availableAfter } = budget;
  return (
    <>
      {availableAfter === undefined ? (
        <span className="text-danger">
          Not enough: <span className="money">{money(available, unit)}</span> left
        </span>
      ) : (
        <>
          <strong className="tabular-nums">{money(availableAfter, "").trim()}</strong> of <Money>{money(limit, unit)}</Money>{" "}
          {spanName(window)}
        </>
      )}
      <span className="mt-1 block">
        <Bar limit={limit} parts={barParts(budget, mandate.charged)} />
      </span>
    </>
  );
}

const itemWords = ({ title, name, color, size }: LineView): string =>
  [title ?? name, color, size].filter((part) => part !== undefined).join(", ");

const Items = ({ lines }: { readonly lines: readonly LineView[] }) =>
  lines.map((line, at) => (
    <span key={lineKey(line)}>
      {at > 0 && " · "}
      {line.quantity} × <Untrusted>{itemWords(line)}</Untrusted>
    </span>
  ));

const Purpose = ({ whose, children }: { readonly whose: string; readonly children: string }) => (
  <>
    <span className="text-muted">{whose} words:</span>{" "}
    <q>
      <Untrusted>{children}</Untrusted>
    </q>
  </>
);

type RowProps = { readonly name: string; readonly of?: string; readonly lines?: 1 | 2; readonly children: ReactNode };

const Row = ({ name, of, lines = 2, children }: RowProps) => (
  <div className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-x-3 border-t px-4 py-1 lg:grid-cols-[7rem_minmax(0,1fr)] lg:px-8 lg:py-2 lg:odd:border-r">
    <dt className="text-muted">{name}</dt>
    <dd className="min-w-0 wrap-anywhere">
      {of === undefined ? (
        children
      ) : (
        <Clamp of={of} lines={lines}>
          {children}
        </Clamp>
      )}
    </dd>
  </div>
);

export const Essentials = ({ view, mandate }: Props) => (
  <dl className="grid grid-cols-1 text-sm lg:grid-cols-2 [&_strong]:font-620">
    <Row name="Why you are asked" of="the rule">
      <Why view={view} mandate={mandate} />
    </Row>
    {view.elsewhere?.account && (
      <Row name="Account" of="the account">
        <Untrusted>{accountText(view.elsewhere.account)}</Untrusted>
      </Row>
    )}
    {view.elsewhere && (
      <Row name="Reference" of="the reference" lines={1}>
        <Untrusted>{view.elsewhere.reference}</Untrusted>
      </Row>
    )}
    {mandate && mandate.asset !== view.intent.asset && (
      <Row name="Counts as">
        <Money>{money(mandate.charged, mandate.asset)}</Money>
      </Row>
    )}
    {mandate && (
      <Row name="Leaves">
        <Remains mandate={mandate} />
      </Row>
    )}
    {view.elsewhere === undefined && (
      <Row name="Items" of="the items" lines={1}>
        <Items lines={view.lines} />
      </Row>
    )}
    {view.purpose !== undefined && (
      <Row name="Purpose" of="the purpose">
        <Purpose whose={view.agent.isServiceAccount ? "The agent’s" : "Their"}>{view.purpose}</Purpose>
      </Row>
    )}
  </dl>
);
