import { RecordDialog } from "#components/payments/record-dialog.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { PaymentView } from "#lib/pages/buyer/view-payment.ts";
import type { PaymentRecord, RecordedPayment } from "#lib/payments/payment-schema.ts";

const words: Readonly<Record<PaymentRecord["outcome"], string>> = {
  paid: "Paid",
  partlyPaid: "Paid in part",
  notPaid: "Nothing more was paid",
  refunded: "Came back",
};

const questions = {
  exceeded: "More was paid than was held. It counts, also above the limits of the mandate.",
  overdue: "Nobody closed this payment until its deadline. Nothing was freed: the amount is still held.",
} as const;

const Part = ({ part }: { readonly part: PaymentRecord }) => (
  <li className="flex flex-wrap justify-between gap-x-4 border-t py-2 text-sm first:border-t-0">
    <span>
      {words[part.outcome]},{" "}
      <span className="sub">{part.byAgent ? "as the agent says" : "recorded by a person or another key"}</span>
      {part.reference !== undefined && (
        <>
          , <Untrusted>{part.reference}</Untrusted>
        </>
      )}
    </span>
    <span className="flex gap-x-4">
      <Moment at={part.createdAt} show="short" />
      <Money>{money(part.amount, part.asset)}</Money>
    </span>
  </li>
);

const stateOf = ({ status, unit, deadline, paid, refunded, asset, open }: RecordedPayment) =>
  [
    ["Recorded as paid", <Money key="paid">{money(paid, asset)}</Money>],
    ...(refunded === "0" ? [] : [["Came back", <Money key="refunded">{money(refunded, asset)}</Money>] as const]),
    ["Still held", <Money key="open">{money(open, unit)}</Money>],
    ...(status === "closed" ? [] : [["To be closed by", <Moment key="deadline" at={deadline} show="short" />] as const]),
  ] as const;

type Props = {
  readonly authorizationId: string;
  readonly recorded: NonNullable<PaymentView["recorded"]>;
  readonly mayClose: boolean;
};

/** What was recorded of a payment that is made elsewhere. */
export function RecordPanel({ authorizationId, recorded: { recorded, records }, mayClose }: Props) {
  const isClosed = recorded.status === "closed";
  return (
    <Panel id="recorded" title={isClosed ? "Recorded and closed" : "Recorded"}>
      <div className="panel-body grid gap-4">
        {recorded.asks && <Notice tone="caution">{questions[recorded.asks]}</Notice>}
        <Pairs items={stateOf(recorded)} />
        {records.length > 0 && (
          <ul aria-label="Parts, newest first">
            {records.map((part) => (
              <Part key={part.recordId} part={part} />
            ))}
          </ul>
        )}
        {mayClose && (
          <div>
            <RecordDialog
              key={records.length}
              authorizationId={authorizationId}
              asset={recorded.asset}
              open={recorded.asset === recorded.unit && !isClosed ? recorded.open : ""}
              // Closing it again answers what is asked about a payment that had been closed.
              isClosed={isClosed && recorded.asks === undefined}
            />
          </div>
        )}
      </div>
    </Panel>
  );
}
