import type { ReactNode } from "react";
import { Money, money } from "#components/ui/money.tsx";
import { Panel } from "#components/ui/panel.tsx";
import type { PaymentView } from "#lib/pages/buyer/view-payment.ts";

type Props = Pick<PaymentView, "amounts" | "stage"> & { readonly asset: string };

const Row = ({ name, children, look }: { readonly name: string; readonly children: ReactNode; readonly look?: string }) => (
  <tr className={look}>
    <th className="py-2 text-left font-normal text-muted" scope="row">
      {name}
    </th>
    <td className="py-2 text-right">{children}</td>
  </tr>
);

function totalName({ of, status }: PaymentView["stage"]): string {
  if (of !== "settlement") return of === "outcome" && status === "deny" ? "It would have cost" : "It costs you";
  if (status === "settled") return "You paid";
  return status === "failed" ? "It would have cost" : "It costs you";
}

/** The service fee is not paid on the chain; the service bills it. */
export function AmountsTable({ amounts, stage, asset }: Props) {
  const show = (amount: string) => <Money>{money(amount, asset)}</Money>;
  return (
    <table className="text-sm">
      <caption className="sr">Amounts of this payment</caption>
      <tbody>
        <Row name="Price">{show(amounts.price)}</Row>
        <Row name="Service fee">{show(amounts.serviceFee)}</Row>
        {amounts.buyerShare !== amounts.serviceFee && <Row name="Your share of the fee">{show(amounts.buyerShare)}</Row>}
        <Row name="Provider fee">{show(amounts.providerFee)}</Row>
        <Row name="Network fee">{show(amounts.networkFee)}</Row>
        <Row name={totalName(stage)} look="*:border-t *:border-text *:text-[1rem] *:font-620 *:text-text">
          <span className="double">{show(amounts.total)}</span>
        </Row>
        {amounts.counted && amounts.counted.rate !== `1 ${asset}` && (
          <Row name={`Counts as, at ${amounts.counted.rate} for 1 ${asset}`}>
            <Money>{amounts.counted.amount}</Money>
          </Row>
        )}
        <Row name="Seller receives" look="*:pt-3">
          {show(amounts.sellerReceives)}
        </Row>
      </tbody>
    </table>
  );
}

export const AmountsPanel = (props: Props) => (
  <Panel id="amounts" title="Amounts">
    <div className="panel-body">
      <AmountsTable {...props} />
    </div>
  </Panel>
);
