import Link from "next/link";
import { CloseCard } from "#components/payments/close-card.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { PaymentView } from "#lib/pages/buyer/view-payment.ts";

type Carded = NonNullable<PaymentView["carded"]>;

const questions: Readonly<Record<NonNullable<Carded["asks"]>, string>> = {
  exceeded: "More was captured than was held. It counts, also above the limits of the mandate.",
  outside:
    "Stripe let the card pay what this mandate had not allowed or was not asked about. What is captured counts, also above the limits.",
  unconfirmed: "Stripe has not told for four days what became of this payment. Nothing was freed: the amount is still held.",
};

const approvedAs: Readonly<Record<string, string>> = {
  pending: "Approved",
  expired: "Expired",
  reversed: "Reversed",
  closed: "Closed",
};

/** An expired authorization can be captured for some days more. */
const wordOf = ({ approved, status }: NonNullable<Carded["told"]>, isOpen: boolean): string => {
  if (!approved) return "Declined";
  return `${approvedAs[status] ?? "Approved"}${status === "expired" && isOpen ? ", and can still be captured for some days" : ""}`;
};

function Told({ told, sums, asset, isDenied }: Pick<Carded, "told" | "sums"> & Pick<Props, "asset" | "isDenied">) {
  if (!told) return isDenied ? "Nothing since it was told no." : "Nothing yet.";
  return (
    <>
      {wordOf(told, Number(sums?.open ?? 0) > 0)}, <Money>{money(told.amount, asset)}</Money>
      <span className="block text-muted">
        <Moment at={told.at} show="short" />
      </span>
    </>
  );
}

const Transaction = ({ id, kind, amount, currency, at }: Carded["transactions"][number]) => (
  <li className="flex flex-wrap justify-between gap-x-4 border-t py-2 text-sm first:border-t-0">
    <span>
      {kind === "refund" ? "Refunded" : "Captured"} <Copyable value={id} label="transaction id at Stripe" />
    </span>
    <span className="flex gap-x-4">
      <Moment at={at} show="short" />
      <Money>{money(amount, currency)}</Money>
    </span>
  </li>
);

function sumsOf({ captured, released, open, unit }: NonNullable<Carded["sums"]>) {
  const show = (amount: string) => <Money>{money(amount, unit)}</Money>;
  return [
    ["Still held", show(open)],
    ["Captured", show(captured)],
    ["Free again", show(released)],
  ] as const;
}

const Others = ({ ids }: { readonly ids: readonly string[] }) => (
  <ul>
    {ids.map((id) => (
      <li key={id}>
        <Link href={`/payments/${id}`}>{id}</Link>
      </li>
    ))}
  </ul>
);

type Props = {
  readonly authorizationId: string;
  readonly carded: Carded;
  /** Of the payment, in which the card is. */
  readonly asset: string;
  readonly isDenied: boolean;
  readonly mayClose: boolean;
};

/** What Stripe says about a payment by card, and what that did to the hold. */
export function CardPanel({ authorizationId, carded, asset, isDenied, mayClose }: Props) {
  const { cardId, name, account, told, transactions, sums, asks, others } = carded;
  return (
    <Panel id="card" title="By card">
      <div className="panel-body grid gap-4">
        {asks && (
          <Notice tone="caution">
            <div className="grid justify-items-start gap-3">
              <p>{questions[asks]}</p>
              {mayClose && <CloseCard authorizationId={authorizationId} asks={asks} />}
            </div>
          </Notice>
        )}
        <Pairs
          items={[
            [
              "Card",
              <span key="card">
                <Untrusted>{name ?? "A card without a name"}</Untrusted> <Copyable value={cardId} label="card id at Stripe" />
                <span className="block text-muted">
                  <Untrusted>{account}</Untrusted>
                </span>
              </span>,
            ],
            ["Stripe says", <Told key="told" told={told} sums={sums} asset={asset} isDenied={isDenied} />],
            ...(sums ? sumsOf(sums) : []),
            ...(others.length === 0 ? [] : [["Same purchase", <Others key="others" ids={others} />] as const]),
          ]}
        />
        {transactions.length > 0 && (
          <ul aria-label="Captures and refunds, newest first">
            {transactions.map((one) => (
              <Transaction key={one.id} {...one} />
            ))}
          </ul>
        )}
        {transactions.some(({ kind }) => kind === "refund") && (
          <p className="text-sm text-muted">Refunds are shown as Stripe links them. They give nothing back to the budget.</p>
        )}
      </div>
    </Panel>
  );
}
