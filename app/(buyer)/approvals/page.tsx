import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireLiveMember } from "#app/session.ts";
import { AskingPanel } from "#components/buyer/asking-panel.tsx";
import { RefusalsPanel } from "#components/buyer/refusals-panel.tsx";
import { StepUpPanel } from "#components/approvals/step-up-panel.tsx";
import { WaitingForm } from "#components/approvals/waiting-form.tsx";
import { requestsWords, WaitingList } from "#components/buyer/waiting-list.tsx";
import { KeepFresh } from "#components/live/keep-fresh.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money } from "#components/ui/money.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { vapid } from "#lib/push/vapid.ts";
import {
  viewDecided,
  viewStepUpLimits,
  viewWaiting,
  type DecidedApproval,
  type ApprovalsView,
} from "#lib/pages/buyer/view-approvals.ts";
import { viewRefusals } from "#lib/pages/buyer/view-refusals.ts";

export const metadata = { title: "Approvals" };

const PATH = "/approvals";
const LIMIT = 20;

const columns = [
  { name: "Payee", cell: ({ domain }: DecidedApproval) => <Untrusted>{domain}</Untrusted> },
  { name: "Asked by", cell: ({ asker }: DecidedApproval) => <AskerName asker={asker} /> },
  { name: "Asked", cell: ({ requestedAt }: DecidedApproval) => <Moment at={requestedAt} show="short" /> },
  { name: "State", cell: ({ status }: DecidedApproval) => <StatusBadge of="checkout" status={status} /> },
  {
    name: "Decided by",
    cell: ({ decided }: DecidedApproval) =>
      decided === undefined ? null : (
        <span>
          <Untrusted>{decided.by}</Untrusted>, <Moment at={decided.at} show="short" />
        </span>
      ),
  },
  { name: "Amount", numeric: true, cell: ({ amount }: DecidedApproval) => <Money>{amount}</Money> },
];

const howTold = {
  smtp: "Everyone who may approve gets a mail about each request.",
  outbox: "Nobody gets a mail: this sandbox has no mail server. Its operator can set SMTP_URL and MAIL_FROM.",
  none: "Nobody gets a mail: this service has no mail server. Its operator can set SMTP_URL and MAIL_FROM.",
} as const;

type WaitingProps = { readonly waiting: ApprovalsView; readonly mayDecide: boolean };
type PanelProps = WaitingProps & { readonly since: number };

const Requests = ({ waiting, mayDecide }: WaitingProps) =>
  waiting.items.length > 0 ? (
    <WaitingList waiting={waiting} mayDecide={mayDecide} choosable={mayDecide && waiting.items.length > 1} />
  ) : (
    <Empty title="Nothing to approve">Payments that need a person’s approval appear here until they expire.</Empty>
  );

const WaitingPanel = ({ waiting, mayDecide, since }: PanelProps) => (
  <Panel id="waiting" title={mayDecide ? "Waiting for you" : "Waiting for an approver"} note={requestsWords(waiting)}>
    {mayDecide ? (
      <WaitingForm waiting={waiting.items}>
        <Requests waiting={waiting} mayDecide />
      </WaitingForm>
    ) : (
      <Requests waiting={waiting} mayDecide={false} />
    )}
    <div className="panel-foot">
      <KeepFresh kinds={["request"]} since={since} count={waiting.items.length} words={requestsWords(waiting)} />
      <span>
        {howTold[mailDelivery()]}
        {mayDecide && vapid() !== null && (
          <>
            {" "}
            <a href="/settings/security#devices">Messages to your devices</a>
          </>
        )}
      </span>
    </div>
  </Panel>
);

export default async function ApprovalsPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const caller = await requireLiveMember(PATH);
  const mayDecide = caller.capabilities.has("checkouts:approve");
  if (!mayDecide && !caller.capabilities.has("checkouts:read")) {
    return <NotForRole title="Approvals" what="payments that wait" who="Owners, admins, approvers, developers and viewers" />;
  }
  const cursor = one(query, "cursor");
  const manage = caller.capabilities.has("mandates:manage");
  const [waiting, decided, refusals, limits] = await Promise.all([
    viewWaiting(caller),
    found(viewDecided(caller, { cursor, limit: LIMIT })),
    caller.capabilities.has("payments:read") ? viewRefusals(caller, { manage }) : [],
    viewStepUpLimits(caller),
  ]);
  return (
    <>
      <PageHeader title="Approvals" description="Payments that need an approval. Nothing is paid before someone approves it." />
      <div className="stack">
        <WaitingPanel waiting={waiting} mayDecide={mayDecide} since={caller.since} />
        <AskingPanel asking={waiting.asking} mayClose={caller.capabilities.has("payments:record")} />
        {refusals.length > 0 && <RefusalsPanel refusals={refusals} />}
        {(decided.items.length > 0 || cursor !== undefined) && (
          <Panel id="decided" title="Decided or expired">
            <Ledger
              caption="Requests that were decided, or that nobody decided in time"
              columns={columns}
              rows={decided.items}
              rowKey={(row) => row.checkoutIntentId}
              href={(row) => `/checkout/${row.checkoutIntentId}`}
            />
            <div className="panel-foot">
              <Pager path={PATH} query={query} nextCursor={decided.nextCursor} />
            </div>
          </Panel>
        )}
        <StepUpPanel
          organizationId={caller.organizationId}
          limits={limits}
          mayChange={caller.capabilities.has("members:manage")}
        />
      </div>
    </>
  );
}
