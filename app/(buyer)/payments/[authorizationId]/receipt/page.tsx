import { found } from "#app/found.ts";
import { requireMember } from "#app/session.ts";
import { AmountsTable } from "#components/payments/amounts-panel.tsx";
import { itemOf, payeeOf } from "#components/payments/payee.ts";
import { PrintButton } from "#components/payments/print-button.tsx";
import { StageBadge } from "#components/payments/stage-badge.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { networkName } from "#lib/chains/network-name.ts";
import { viewPayment, type PaymentView } from "#lib/pages/buyer/view-payment.ts";

export const metadata = { title: "Receipt" };

type Props = { readonly params: Promise<{ readonly authorizationId: string }> };

/** Shows a whole id, address or hash, because printed paper has no copy button. */
const Full = ({ children }: { readonly children: string }) => <code className="wrap-anywhere">{children}</code>;

function factsOf(view: PaymentView, buyer: string) {
  const { payment, seller, asker, mandate, transaction } = view;
  const { intent, authorization } = payment;
  return [
    ["Buyer", <Untrusted key="buyer">{buyer}</Untrusted>],
    [
      "Payee",
      <span key="payee" className="wrap-anywhere">
        <Untrusted>{payeeOf(intent)}</Untrusted>, {seller.verified ? "verified seller" : "not verified"}
      </span>,
    ],
    ...(intent.resource ? [["For", <Untrusted key="for">{itemOf(intent.resource)}</Untrusted>] as const] : []),
    ...(intent.payTo === undefined ? [] : [["Paid to", <Full key="payTo">{intent.payTo}</Full>] as const]),
    ["Network", `${networkName(intent.chain)}, ${intent.chain}`],
    ["Asked", <Moment key="asked" at={authorization.policyDecision.createdAt} />],
    ...(transaction?.at ? [["Settled", <Moment key="settled" at={transaction.at} />] as const] : []),
    ...(transaction ? [["Transaction", <Full key="transaction">{transaction.hash}</Full>] as const] : []),
    [
      "Asked by",
      <span key="asker">
        <AskerName asker={asker} />
      </span>,
    ],
    [
      "Mandate",
      <span key="mandate">
        <Untrusted>{mandate.name}</Untrusted>, version {mandate.policyVersion}
      </span>,
    ],
    ["Authorization", <Full key="authorization">{authorization.authorizationId}</Full>],
  ] as const;
}

export default async function ReceiptPage({ params }: Props) {
  const { authorizationId } = await params;
  const path = `/payments/${encodeURIComponent(authorizationId)}`;
  const caller = await requireMember(`${path}/receipt`);
  if (!caller.capabilities.has("payments:read")) {
    return <NotForRole title="Receipt" what="payments" who="All roles of the organization" />;
  }
  const [view, session] = await Promise.all([found(viewPayment(caller, authorizationId)), viewSession(caller.sessionId)]);
  const { stage, amounts, payment } = view;
  const { asset } = payment.intent;
  const settled = stage.of === "settlement" && stage.status === "settled";
  return (
    <div className="max-w-196 print:max-w-none print:[&_.actions]:hidden print:[&>:first-child]:hidden">
      <PageHeader
        back={{ href: path, label: "Payment" }}
        title={settled ? "Receipt" : "No receipt yet"}
        description={<StageBadge stage={stage} />}
        actions={settled ? <PrintButton /> : undefined}
      />
      {settled ? (
        <section className="panel print:border-0 print:bg-transparent" aria-label="Receipt">
          <div className="panel-body grid gap-6 print:px-0">
            <p className="text-3xl font-620 tracking-display [&_abbr]:text-[0.6em]">
              <Money>{money(amounts.total, asset)}</Money>
            </p>
            <Pairs items={factsOf(view, session.activeOrganization?.name ?? "")} />
            <AmountsTable amounts={amounts} stage={stage} asset={asset} />
            <p className="text-sm text-muted">
              The seller received exactly {money(amounts.price, asset)} on the network. The service bills its fee separately.
            </p>
          </div>
        </section>
      ) : (
        <Notice tone="caution">A payment has a receipt once the network shows that it is settled.</Notice>
      )}
    </div>
  );
}
