import { requireOfficial } from "#app/admin/official.ts";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { scheduleColumns, statusColumn } from "#components/billing/schedule-columns.tsx";
import { FeeScheduleForm } from "#components/platform/fee-schedule-form.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { viewAllSchedules } from "#lib/pages/admin/view-fee-schedules.ts";

export const metadata = { title: "Fee schedules" };

const PATH = "/admin/fee-schedules";
const ROWS = 20;
/** The id of the built-in fee schedule, which always exists and cannot be changed. */
const BUILT_IN = "fs_default";

export default async function FeeSchedulesPage({ searchParams }: { readonly searchParams: SearchParams }) {
  await requireOfficial(PATH, "platform.feeSchedules.manage");
  const query = await searchParams;
  const { items, nextCursor } = await found(viewAllSchedules(one(query, "cursor"), ROWS));
  return (
    <>
      <PageHeader
        title="Fee schedules"
        description="What the service charges. The most specific schedule applies: for buyer and seller, for one of them, for a plan, for everyone."
        actions={<FeeScheduleForm />}
      />
      <Panel id="schedules" title="All schedules" note="Newest first">
        <Ledger
          caption="Fee schedules"
          rows={items}
          rowKey={({ feeScheduleId }) => feeScheduleId}
          columns={[
            ...scheduleColumns,
            {
              name: "From",
              cell: ({ feeScheduleId, effectiveFrom }) =>
                feeScheduleId === BUILT_IN ? "Always" : <Moment at={effectiveFrom} show="date" />,
            },
            statusColumn,
            {
              name: "Actions",
              actions: true,
              cell: (schedule) => schedule.feeScheduleId !== BUILT_IN && <FeeScheduleForm schedule={schedule} />,
            },
          ]}
        />
        <Pager path={PATH} query={query} nextCursor={nextCursor} />
      </Panel>
    </>
  );
}
