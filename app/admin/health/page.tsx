import { Fragment } from "react";
import { requireOfficial } from "#app/admin/official.ts";
import { AlarmsLedger } from "#components/platform/alarms-ledger.tsx";
import { DatabasePanel } from "#components/platform/database-panel.tsx";
import { SendersLedger } from "#components/platform/senders-ledger.tsx";
import { UnknownLedger } from "#components/platform/unknown-ledger.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { viewHealth, type HealthView } from "#lib/pages/admin/view-health.ts";

export const metadata = { title: "Health" };

const PATH = "/admin/health";

const names = {
  database: "Database",
  authorizations: "Connections for authorizing",
  emergencies: "Connections for emergencies",
  commits: "Commits",
  migrations: "Migrations",
  queue: "Request queue",
  chains: "Chains",
  settlements: "Settlement queue",
  webhooks: "Webhook secrets",
  pages: "Pages",
} as const;

const State = ({ good, bad = "Not ready" }: { readonly good: boolean; readonly bad?: string }) =>
  good ? (
    <Badge tone="positive" icon="check">
      Works
    </Badge>
  ) : (
    <Badge tone="danger" icon="stop">
      {bad}
    </Badge>
  );

const seconds = (value: number | null): string =>
  value === null ? "Nothing settled yet" : `${value.toFixed(value < 10 ? 1 : 0)} s`;

const Queues = ({ view }: { readonly view: HealthView }) => (
  <Panel id="queues" title="Queues">
    <div className="panel-body">
      <Pairs
        items={[
          ["Authorize requests waiting", view.waiting],
          ["Holds overdue for release", view.overdueHolds],
          ["Settlement lag, median", seconds(view.lag.median)],
          ["Settlement lag, slowest 5 %", seconds(view.lag.p95)],
        ]}
      />
    </div>
    {view.open.length > 0 && (
      <Ledger
        caption="Executions that are not final"
        rows={view.open}
        rowKey={({ status }) => status}
        columns={[
          { name: "Executions", cell: ({ status }) => <StatusBadge of="settlement" status={status} /> },
          { name: "Count", cell: ({ count }) => count, numeric: true },
          { name: "Not checked for a minute", cell: ({ overdue }) => overdue, numeric: true },
          { name: "Oldest", cell: ({ oldest }) => oldest !== null && <Moment at={oldest} show="short" /> },
        ]}
      />
    )}
  </Panel>
);

const Workers = ({ runs }: Pick<HealthView, "runs">) => (
  <Panel id="workers" title="Workers">
    {runs.length > 0 ? (
      <Ledger
        caption="Workers by their last run"
        rows={runs}
        rowKey={({ worker }) => worker}
        columns={[
          { name: "Worker", cell: ({ worker }) => <span className="mono">{worker}</span> },
          { name: "Last run", cell: ({ ranAt }) => <Moment at={ranAt} show="short" /> },
          { name: "State", cell: ({ failing }) => <State good={!failing} bad="Fails" /> },
        ]}
      />
    ) : (
      <Empty title="No worker has run yet">Workers record their runs about every 15 seconds.</Empty>
    )}
  </Panel>
);

const RecordAlarms = ({ alarms }: { readonly alarms: HealthView["auditAlarms"] }) => (
  <Panel
    id="record"
    title="Audit record was changed"
    about="These chains do not continue from the heads that this installation signed. Until they do, they are not signed again."
  >
    <div className="panel-body">
      <Notice tone="danger" role="alert">
        <strong>Somebody changed the database directly, without the service.</strong> Change its passwords, keep a copy of it as
        it is, and restore the chains from a backup. An export that was made before shows which events differ.
      </Notice>
    </div>
    <AlarmsLedger alarms={alarms} />
  </Panel>
);

export default async function HealthPage() {
  const caller = await requireOfficial(PATH, "platform.audit.read", "platform.emergency.revoke");
  const view = await viewHealth();
  return (
    <>
      <PageHeader
        title="Health"
        description={
          <>
            What works, what waits, and which outcomes are unknown. As of <Moment at={view.now} show="time" />.
          </>
        }
      />
      <div className="stack">
        {view.auditAlarms.length > 0 && <RecordAlarms alarms={view.auditAlarms} />}
        <Panel
          id="unknown"
          title="Unknown outcomes"
          about="Submitted, and the outcome is not known yet. The amount stays held until the chain shows it."
        >
          {view.unknown.length > 0 ? (
            <UnknownLedger unknown={view.unknown} mayAsk={caller.platformCapabilities.has("platform.emergency.revoke")} />
          ) : (
            <Empty title="Every outcome is known">No execution needs another check.</Empty>
          )}
        </Panel>
        <Queues view={view} />
        <DatabasePanel database={view.database} others={view.others} />
        {view.senders.length > 0 && (
          <Panel
            id="senders"
            title="Gas"
            about="The accounts that pay the gas of registrations, revocations and payments on chain. Without gas, transactions wait; none is lost."
          >
            <SendersLedger senders={view.senders} />
          </Panel>
        )}
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
          <Panel id="parts" title="Parts">
            <div className="panel-body">
              <Pairs
                items={[
                  ...view.probes.map(
                    ({ name, status, because }) =>
                      [
                        names[name],
                        <Fragment key={name}>
                          <State good={status === "ready"} /> {because && `Nothing can be saved, because ${because}.`}
                        </Fragment>,
                      ] as const,
                  ),
                  ["Audit record", <State key="record" good={view.auditAlarms.length === 0} bad="Changed" />] as const,
                ]}
              />
            </div>
          </Panel>
          <Workers runs={view.runs} />
        </div>
      </div>
    </>
  );
}
