import type { ReactNode } from "react";
import { Money } from "#components/ui/money.tsx";
import { plural } from "#components/ui/plural.ts";
import { role } from "#components/ui/table-roles.ts";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView, LineView } from "#lib/approvals/checkout-view.ts";
import { basketChanges, type LineChange } from "./basket-changes.ts";
import { Fold } from "./fold.tsx";
import { lineKey } from "./names.ts";

const Value = ({ now, was }: { readonly now: ReactNode; readonly was: string | undefined }) =>
  was === undefined ? (
    now
  ) : (
    <>
      <ins>{now}</ins>{" "}
      <del>
        <span className="sr">was </span>
        {was}
      </del>
    </>
  );

const amountOf = (display: string): string => display.slice(0, display.lastIndexOf(" "));

function Kind({ line, kind }: { readonly line: LineView; readonly kind: LineChange["kind"] }) {
  const address = line.title === undefined ? undefined : line.name;
  const variant = [address, line.color, line.size].filter((part): part is string => part !== undefined);
  return (
    <>
      {variant.length > 0 && (
        <span>
          <Untrusted>{variant.join(", ")}</Untrusted>
        </span>
      )}
      {kind === "removed" && <span>Removed by the seller</span>}
      {kind === "added" && <span>Added by the seller</span>}
    </>
  );
}

function Line({ change: { line, was, kind } }: { readonly change: LineChange }) {
  const gone = kind === "removed";
  const before = <T,>(read: (one: LineView) => T): T | undefined =>
    was !== undefined && read(was) !== read(line) ? read(was) : undefined;
  const cell = (value: ReactNode) => (gone ? <del>{value}</del> : kind === "added" ? <ins>{value}</ins> : value);
  return (
    <tr {...role.row} className={kind === "same" ? undefined : gone ? "changed removed" : "changed"}>
      <th {...role.rowheader} scope="row">
        {gone ? (
          <del>
            <Untrusted>{line.title ?? line.name}</Untrusted>
          </del>
        ) : (
          <Untrusted>{line.title ?? line.name}</Untrusted>
        )}
        <Kind line={line} kind={kind} />
      </th>
      <td {...role.cell} className="qty">
        <Value now={cell(line.quantity)} was={before(({ quantity }) => String(quantity))} />
      </td>
      <td {...role.cell} className="unit">
        <Value
          now={cell(<Money>{line.displayUnitAmount}</Money>)}
          was={before(({ displayUnitAmount }) => amountOf(displayUnitAmount))}
        />
      </td>
      <td {...role.cell} className="sub">
        <Value
          now={cell(<Money>{line.displaySubtotal}</Money>)}
          was={before(({ displaySubtotal }) => amountOf(displaySubtotal))}
        />
      </td>
    </tr>
  );
}

const payers = { buyer: "paid by you", seller: "paid by the seller", split: "shared with the seller" } as const;

function Foot({ view: { amounts } }: { readonly view: CheckoutView }) {
  const { fee, rest } = amounts;
  const rows: readonly (readonly [string, string])[] = [
    ...(rest === undefined ? [] : [["Other charges of the seller, such as shipping", rest] as const]),
    [`Service fee (${payers[fee.payer]})`, fee.buyerShare],
  ];
  return (
    <tfoot {...role.rowgroup}>
      {rows.map(([name, amount]) => (
        <tr {...role.row} key={name}>
          <th {...role.rowheader} scope="row" colSpan={3}>
            {name}
          </th>
          <td {...role.cell}>
            <Money>{amount}</Money>
          </td>
        </tr>
      ))}
      <tr {...role.row} className="sum">
        <th {...role.rowheader} scope="row" colSpan={2}>
          Total you pay
        </th>
        <td {...role.cell} colSpan={2}>
          <span className="double">
            <Money>{amounts.charged}</Money>
          </span>
        </td>
      </tr>
    </tfoot>
  );
}

const keyOf = ({ line, kind }: LineChange): string =>
  [kind === "removed", lineKey(line), line.quantity, line.unitAmount].join("|");

function pricedBy({ elsewhere, intent, agent }: CheckoutView): string {
  if (elsewhere) return `as ${agent.isServiceAccount ? "the agent" : "the person who asks"} says`;
  return intent.quoteId === undefined ? "priced by the seller" : "prices from the seller’s quote";
}

type Props = {
  readonly view: CheckoutView;
  readonly before: CheckoutView | undefined;
  readonly open: boolean;
  readonly className: string;
};

export function BasketTable({ view, before, open, className }: Props) {
  const changes = basketChanges(view.lines, before?.lines ?? view.lines);
  const changed = changes.filter(({ kind }) => kind !== "same").length;
  return (
    <Fold
      id="basket"
      title="Basket and fees"
      note={before === undefined ? `${plural(view.lines.length, "line")}, ${pricedBy(view)}` : plural(changed, "change")}
      open={open}
      className={className}
    >
      <table className="basket" {...role.table}>
        <caption className="sr">Basket lines, fees and total</caption>
        <thead {...role.rowgroup}>
          <tr {...role.row}>
            {["Item", "Quantity", "Unit price", "Subtotal"].map((name) => (
              <th {...role.columnheader} scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...role.rowgroup}>
          {changes.map((change) => (
            <Line change={change} key={keyOf(change)} />
          ))}
        </tbody>
        <Foot view={view} />
      </table>
    </Fold>
  );
}
