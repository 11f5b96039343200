import type { ReactNode } from "react";
import { accountText } from "#components/payments/payee.ts";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money } from "#components/ui/money.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { networkName } from "#lib/chains/network-name.ts";
import { lineKey } from "./names.ts";

export function Record({ view, title }: { readonly view: CheckoutView; readonly title: string }) {
  const { payee, amounts, lines, agent, intent, approval } = view;
  const mandateId = approval?.mandateId ?? intent.mandateId;
  const mandate = view.mandates.find((one) => one.mandateId === mandateId);
  const items: readonly (readonly [string, ReactNode])[] = [
    [
      "Pay to",
      <span key="to" className="wrap-anywhere">
        <strong className="font-semibold">{payee.domain}</strong>
        {payee.name !== undefined && (
          <>
            {" "}
            (<Untrusted>{payee.name}</Untrusted>)
          </>
        )}
        , {payee.verified ? "verified seller" : "not verified"}
      </span>,
    ],
    [
      "Total",
      <strong key="total" className="font-semibold">
        <Money>{amounts.charged}</Money>
      </strong>,
    ],
    [
      "Basket",
      <ul key="basket" className="wrap-anywhere">
        {lines.map((line) => (
          <li key={lineKey(line)}>
            {line.quantity} × <Untrusted>{line.title ?? line.name}</Untrusted>
            {line.title !== undefined && (
              <span className="block text-muted">
                <Untrusted>{line.name}</Untrusted>
              </span>
            )}
          </li>
        ))}
      </ul>,
    ],
    ...(mandate === undefined ? [] : [["Mandate", <Untrusted key="mandate">{mandate.name}</Untrusted>] as const]),
    [
      "Requested by",
      <span key="agent">
        <AskerName asker={agent} />, <Moment at={view.requestedAt} />
      </span>,
    ],
    [
      "Pays to",
      view.elsewhere ? (
        <Untrusted key="pays">{view.elsewhere.account ? accountText(view.elsewhere.account) : "No account is named"}</Untrusted>
      ) : (
        <span key="pays">
          <Copyable value={view.destination.payTo} label="destination address" /> on {networkName(intent.chain)}
        </span>
      ),
    ],
    ["Request", <Copyable key="id" value={intent.checkoutIntentId} label="checkout intent id" head={8} />],
    ["Basket hash", <Copyable key="hash" value={intent.basketHash} label="basket hash" head={8} tail={8} />],
  ];
  return (
    <section className="record" aria-labelledby="record">
      <h2 id="record">{title}</h2>
      <Pairs items={items} />
    </section>
  );
}
