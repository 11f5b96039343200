import Link from "next/link";
import { found } from "#app/found.ts";
import { requireLiveMember } from "#app/session.ts";
import { KeepFresh } from "#components/live/keep-fresh.tsx";
import { AmountsPanel } from "#components/payments/amounts-panel.tsx";
import { CardPanel } from "#components/payments/card-panel.tsx";
import { NextPanel } from "#components/payments/next-panel.tsx";
import { PartiesPanel } from "#components/payments/parties-panel.tsx";
import { payeeOf } from "#components/payments/payee.ts";
import { RecordPanel } from "#components/payments/record-panel.tsx";
import { RulesPanel } from "#components/payments/rules-panel.tsx";
import { SignedReceipts } from "#components/payments/signed-receipts.tsx";
import { TimelinePanel } from "#components/payments/timeline-panel.tsx";
import { Verdict } from "#components/payments/verdict.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Money, money } from "#components/ui/money.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { nextStepsOf } from "#lib/payments/refusals/next-steps.ts";
import { offerFix } from "#lib/pages/buyer/view-fix.ts";
import { viewPayment, type PaymentView } from "#lib/pages/buyer/view-payment.ts";

export const metadata = { title: "Payment" };

type Props = { readonly params: Promise<{ readonly authorizationId: string }> };

const settledExecution = ({ executions }: PaymentView["payment"]) =>
  executions.find(({ settlementStatus }) => settlementStatus === "settled");

/** The receipt of a settled payment, or the change that mends a denial. */
function actionFor({ stage, payment }: PaymentView, fixHref: string | undefined) {
  if (stage.of === "settlement" && stage.status === "settled") {
    return (
      <Link className={buttonClass()} href={`/payments/${payment.authorization.authorizationId}/receipt`}>
        Receipt
      </Link>
    );
  }
  return fixHref === undefined ? undefined : (
    <Link className={buttonClass({ tone: "primary" })} href={fixHref}>
      Fix it
    </Link>
  );
}

/** Whether the person can let the same purchase pass by a card that was declined because nobody had cleared it. */
const mayClear = ({ payment: { authorization }, allowed }: PaymentView, manage: boolean): boolean =>
  manage && allowed === null && authorization.policyDecision.denialCode === "clearance_needed";

/** What became of a payment that this service does not make itself. */
function Outside({ view, mayClose }: { readonly view: PaymentView; readonly mayClose: boolean }) {
  const { intent, authorization } = view.payment;
  const { authorizationId, policyDecision } = authorization;
  return (
    <>
      {view.carded && (
        <CardPanel
          authorizationId={authorizationId}
          carded={view.carded}
          asset={intent.asset}
          isDenied={policyDecision.outcome === "deny"}
          mayClose={mayClose}
        />
      )}
      {view.recorded && <RecordPanel authorizationId={authorizationId} recorded={view.recorded} mayClose={mayClose} />}
    </>
  );
}

export default async function PaymentPage({ params }: Props) {
  const { authorizationId } = await params;
  const caller = await requireLiveMember(`/payments/${encodeURIComponent(authorizationId)}`);
  if (!caller.capabilities.has("payments:read")) {
    return <NotForRole title="Payment" what="payments" who="All roles of the organization" />;
  }
  const view = await found(viewPayment(caller, authorizationId));
  const { payment, stage, amounts } = view;
  const { intent, authorization } = payment;
  const manage = caller.capabilities.has("mandates:manage");
  const { outcome } = authorization.policyDecision;
  const fix = outcome === "deny" && manage ? await offerFix(caller, view.mandate.mandateId, authorizationId) : null;
  const step = nextStepsOf({
    fix,
    stage,
    byCard: view.carded !== null,
    denialCode: authorization.policyDecision.denialCode ?? null,
    authorizationId,
    mandateId: view.mandate.mandateId,
    confirmPath: view.confirmPath,
    may: { decide: caller.capabilities.has("checkouts:approve"), manage },
  });
  const mayAllowOnce = mayClear(view, manage) || (fix !== null && fix !== "passes" && fix.mayAllowOnce === true);
  const next = <NextPanel step={step} view={view} mayAllowOnce={mayAllowOnce} />;
  return (
    <>
      <PageHeader
        large
        back={{ href: "/payments", label: "Payments" }}
        title={
          <>
            <Money>{money(amounts.total, intent.asset)}</Money> to <Untrusted>{payeeOf(intent)}</Untrusted>
          </>
        }
        description={<Verdict view={view} />}
        actions={actionFor(view, fix && fix !== "passes" ? fix.href : undefined)}
      />
      <div className="stack">
        <RulesPanel decision={authorization.policyDecision} />
        {outcome === "deny" && next}
        <Outside view={view} mayClose={caller.capabilities.has("payments:record")} />
        <div className="split">
          <div className="stack">
            <TimelinePanel steps={view.timeline} />
            {outcome !== "deny" && next}
          </div>
          <div className="stack">
            <AmountsPanel amounts={amounts} stage={stage} asset={intent.asset} />
            <PartiesPanel view={view} />
            <SignedReceipts authorizationId={authorizationId} executionId={settledExecution(payment)?.executionId} />
          </div>
        </div>
        <p className="text-muted text-sm print:hidden">
          {/* While a waiver is open, the page watches every payment: the agent asks again and gets a new authorization id. */}
          <KeepFresh
            kinds={["payment", "request"]}
            id={view.allowed?.state === "open" ? undefined : authorizationId}
            since={caller.since}
          />
        </p>
      </div>
    </>
  );
}
