import Link from "next/link";
import type { ReactNode } from "react";
import { accountText, itemOf } from "#components/payments/payee.ts";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { RequestLine } from "#components/ui/request-line.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { networkName } from "#lib/chains/network-name.ts";
import type { PaymentView, SamePayment } from "#lib/pages/buyer/view-payment.ts";
import { OrderStatus } from "#lib/vocabulary.ts";

type Item = readonly [string, ReactNode];
const when = <T,>(value: T | null | undefined, item: (value: T) => Item): readonly Item[] =>
  value === null || value === undefined ? [] : [item(value)];

type SellerProps = Pick<PaymentView, "seller"> & { readonly isElsewhere: boolean };

function Seller({ seller: { domain, name, verified }, isElsewhere }: SellerProps) {
  return (
    <>
      <span className="wrap-anywhere">
        <strong className="font-semibold">
          <Untrusted>{domain ?? (isElsewhere ? name : null) ?? "No domain"}</Untrusted>
        </strong>
        {name !== null && !isElsewhere && (
          <>
            , calls itself <Untrusted>{name}</Untrusted>
          </>
        )}
      </span>
      <br />
      <StatusBadge of="seller" status={verified ? "verified" : "unverified"} />
    </>
  );
}

function Resource({ resource }: { readonly resource: NonNullable<PaymentView["payment"]["intent"]["resource"]> }) {
  const { method, pathTemplate } = resource;
  return method !== undefined && pathTemplate !== undefined && !pathTemplate.includes("{") ? (
    <span className="wrap-anywhere">
      <RequestLine method={method} path={pathTemplate} />
    </span>
  ) : (
    <Untrusted>{itemOf(resource)}</Untrusted>
  );
}

function Order({ order: { orderId, status, storefrontOrderId } }: { readonly order: NonNullable<PaymentView["order"]> }) {
  // A new order gets no badge, because nothing was decided about it yet.
  const decided = OrderStatus.safeParse(status);
  return (
    <>
      {decided.success && <StatusBadge of="order" status={decided.data} />} <Copyable value={orderId} label="order id" />
      {storefrontOrderId !== null && (
        <>
          <br />
          The seller calls it <Untrusted>{storefrontOrderId}</Untrusted>
        </>
      )}
    </>
  );
}

/** A request for the same payment, which has an authorization of its own. */
const Same = ({ payment: { authorizationId, asker } }: { readonly payment: SamePayment }) => (
  <Link href={`/payments/${authorizationId}`}>
    <AskerName asker={asker} />
  </Link>
);

const network = ({ chain }: PaymentView["payment"]["intent"]): Item => [
  "Network",
  <span key="network">
    {networkName(chain)}, <code>{chain}</code>
  </span>,
];

function partiesOf(view: PaymentView): readonly Item[] {
  const { payment, asker, seller, order, checkout, requestId, transaction } = view;
  const { intent } = payment;
  const isElsewhere = view.recorded !== null || view.carded !== null;
  return [
    [view.carded ? "Merchant" : "Seller", <Seller key="seller" seller={seller} isElsewhere={isElsewhere} />],
    ...when(intent.card, ({ category, country, merchant }): Item => [
      "At Stripe",
      <span key="card" className="wrap-anywhere">
        <Untrusted>{[category.replaceAll("_", " "), country].filter(Boolean).join(", ")}</Untrusted>{" "}
        <Copyable value={merchant} label="network id of the merchant" head={12} />
      </span>,
    ]),
    ...when(intent.resource, (resource): Item => ["Resource", <Resource key="resource" resource={resource} />]),
    [
      "Asked by",
      <span key="asker">
        <AskerName asker={asker} />{" "}
        <Copyable value={asker.subjectId} label={asker.isServiceAccount ? "agent’s id" : "person’s id"} />
      </span>,
    ],
    ...when(view.repeats, (first): Item => ["Asked before by", <Same key="repeats" payment={first} />]),
    ...(view.repeatedBy.length === 0
      ? []
      : [
          [
            "Also asked by",
            <ul key="repeatedBy">
              {view.repeatedBy.map((one) => (
                <li key={one.authorizationId}>
                  <Same payment={one} />
                </li>
              ))}
            </ul>,
          ] as const,
        ]),
    ...when(intent.payTo, (payTo): Item => ["Paid to", <Copyable key="payTo" value={payTo} label="destination address" />]),
    ...when(intent.reference, (reference): Item => ["Reference", <Untrusted key="reference">{reference}</Untrusted>]),
    ...when(intent.payee, (payee): Item => ["Account", accountText(payee)]),
    ...(isElsewhere ? [] : [network(intent)]),
    [
      "Protocol",
      <span key="protocol" className="wrap-anywhere">
        <code>{intent.paymentProtocol}</code>, <code>{intent.settlementMode}</code>
      </span>,
    ],
    ...when(transaction, ({ hash, href }): Item => [
      "Transaction",
      <span key="transaction">
        <Copyable value={hash} label="transaction hash" />{" "}
        {href !== null && (
          <a href={href} rel="noreferrer" target="_blank">
            Look it up<span className="sr"> in the block explorer, opens a new tab</span>
          </a>
        )}
      </span>,
    ]),
    ...when(checkout, ({ checkoutIntentId }): Item => [
      "Checkout",
      <Link key="checkout" href={`/checkout/${checkoutIntentId}`}>
        Look at the request
      </Link>,
    ]),
    ...when(order, (found): Item => ["Order", <Order key="order" order={found} />]),
    ["Fee quote", <Copyable key="quote" value={intent.feeQuote.feeQuoteId} label="fee quote id" />],
    ["Idempotency key", <Copyable key="key" value={intent.idempotencyKey} label="idempotency key" head={10} />],
    ...when(requestId, (id): Item => ["Request", <Copyable key="request" value={id} label="request id" />]),
  ];
}

export const PartiesPanel = ({ view }: { readonly view: PaymentView }) => (
  <Panel id="parties" title="Who and where">
    <div className="panel-body">
      <Pairs items={partiesOf(view)} />
    </div>
  </Panel>
);
