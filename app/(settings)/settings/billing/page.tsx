import { Download } from "lucide-react";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { HistoryPanel } from "#components/billing/history-panel.tsx";
import { PlanFacts } from "#components/billing/plan-facts.tsx";
import { SchedulesPanel } from "#components/billing/schedules-panel.tsx";
import { StatementPanel } from "#components/billing/statement-panel.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { NoAccess } from "#components/ui/no-access.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { address, one } from "#components/ui/page-query.ts";
import { viewStatement } from "#lib/pages/settings/view-statement.ts";

export const metadata = { title: "Billing" };

const PATH = "/settings/billing";

export default async function BillingPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("billing:read")) {
    return (
      <>
        <PageHeader title="Billing" />
        <NoAccess title="Your role does not show fees">
          Everybody except approvers sees them. Ask an owner or admin for another role.
        </NoAccess>
      </>
    );
  }
  const query = await searchParams;
  const view = await found(viewStatement(caller, { month: one(query, "month"), cursor: one(query, "cursor") }));
  return (
    <>
      <PageHeader
        title="Billing"
        description="What the service charges your organization, payment by payment."
        actions={
          <a className={buttonClass()} href={address(`${PATH}/fees.csv`, { month: view.month })} download>
            <Download className="icon" aria-hidden />
            Export CSV
          </a>
        }
      />
      <div className="stack">
        <PlanFacts view={view} />
        <StatementPanel view={view} query={query} path={PATH} />
        {view.history.length > 0 && <HistoryPanel history={view.history} path={PATH} />}
        <SchedulesPanel schedules={view.schedules} volumes={view.volumes} />
      </div>
    </>
  );
}
