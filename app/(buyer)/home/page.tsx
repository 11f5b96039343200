import Link from "next/link";
import { requireLiveMember } from "#app/session.ts";
import { Allowances } from "#components/buyer/allowances.tsx";
import { AskingPanel } from "#components/buyer/asking-panel.tsx";
import { Begin } from "#components/buyer/begin.tsx";
import { RecentPayments, type RecentPayment } from "#components/buyer/recent-payments.tsx";
import { SpendingFacts } from "#components/buyer/spending-facts.tsx";
import { SpendingPanel } from "#components/buyer/spending-panel.tsx";
import { requestsWords, WaitingList } from "#components/buyer/waiting-list.tsx";
import { KeepFresh } from "#components/live/keep-fresh.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel, PanelLink } from "#components/ui/panel.tsx";
import { viewWaiting, type ApprovalsView } from "#lib/pages/buyer/view-approvals.ts";
import { env } from "#lib/env.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { viewLiveMandates } from "#lib/pages/buyer/view-mandates.ts";
import { viewRecentPayments } from "#lib/pages/buyer/view-recent-payments.ts";
import { viewSpending } from "#lib/pages/buyer/view-spending.ts";

export const metadata = { title: "Home" };

const ROWS_MAX = 5;

function WaitingPanel({ waiting, mayDecide }: { readonly waiting: ApprovalsView; readonly mayDecide: boolean }) {
  if (waiting.items.length === 0) return null;
  return (
    <Panel
      id="waiting"
      title={mayDecide ? "Waiting for you" : "Waiting for an approver"}
      note={waiting.more ? undefined : requestsWords(waiting)}
      aside={waiting.more && <PanelLink href="/approvals">All requests</PanelLink>}
    >
      <WaitingList waiting={waiting} mayDecide={mayDecide} />
    </Panel>
  );
}

const PaymentsPanel = ({ payments }: { readonly payments: readonly RecentPayment[] }) => (
  <Panel
    id="payments"
    title="Recent payments"
    aside={payments.length > 0 && <PanelLink href="/payments">All payments</PanelLink>}
  >
    {payments.length > 0 ? (
      <RecentPayments payments={payments} />
    ) : (
      <Empty title="No payments yet">Each one is listed with the rules that allowed or denied it.</Empty>
    )}
  </Panel>
);

const MandatesPanel = ({ mandates }: { readonly mandates: readonly Mandate[] }) => (
  <Panel id="mandates" title="Mandates" aside={<PanelLink href="/mandates">All mandates</PanelLink>}>
    <Allowances mandates={mandates} />
  </Panel>
);

export default async function HomePage() {
  const caller = await requireLiveMember("/home");
  const may = (capability: Parameters<typeof caller.capabilities.has>[0]) => caller.capabilities.has(capability);
  const [mandates, waiting, payments, spending] = await Promise.all([
    may("mandates:read") ? viewLiveMandates(caller, ROWS_MAX) : [],
    may("checkouts:read") || may("checkouts:approve") ? viewWaiting(caller, ROWS_MAX) : null,
    may("payments:read") ? viewRecentPayments(caller, ROWS_MAX + 1) : null,
    may("payments:read") ? viewSpending(caller) : [],
  ]);
  const [main] = spending;
  const fresh = may("mandates:read") && mandates.length === 0 && (payments?.length ?? 0) === 0;
  return (
    <>
      <PageHeader
        title="Home"
        description="What your agents want to pay, and what they paid."
        actions={
          may("mandates:create") && !fresh ? (
            <Link className={buttonClass()} href="/mandates/new">
              New mandate
            </Link>
          ) : undefined
        }
      />
      <div className="stack">
        {waiting && <WaitingPanel waiting={waiting} mayDecide={may("checkouts:approve")} />}
        {waiting && <AskingPanel asking={waiting.asking} mayClose={may("payments:record")} />}
        {fresh ? (
          <Begin baseUrl={env().BASE_URL} mayCreate={may("mandates:create")} />
        ) : (
          <>
            {main && <SpendingFacts spending={main} />}
            <div className="split">
              <div className="stack">
                {main && <SpendingPanel spending={main} more="/spending" />}
                {payments && <PaymentsPanel payments={payments} />}
              </div>
              {mandates.length > 0 && <MandatesPanel mandates={mandates} />}
            </div>
          </>
        )}
        <p className="text-muted text-sm">
          <KeepFresh
            kinds={["payment", "request", "mandate"]}
            since={caller.since}
            count={waiting?.items.length ?? 0}
            words={waiting ? requestsWords(waiting) : ""}
          />
        </p>
      </div>
    </>
  );
}
