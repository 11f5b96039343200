import { Bar } from "#components/ui/bar.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import type { FeeSchedule } from "#lib/billing/billing-schema.ts";
import type { StatementView } from "#lib/billing/statement-view.ts";
import { scheduleColumns, statusColumn } from "./schedule-columns.tsx";

function Included({ schedule, volumes }: { readonly schedule: FeeSchedule; readonly volumes: StatementView["volumes"] }) {
  const { includedMonthlyVolume: included, asset } = schedule;
  const [only] = volumes;
  const unit = asset ?? only?.asset;
  if (unit === undefined) return <>{included} a month</>;
  const used = volumes.find((volume) => volume.asset === unit)?.gross ?? "0";
  return (
    <span>
      <Money>{money(used, unit)}</Money> of <Money>{money(String(included), unit)}</Money> used
      <Bar limit={String(included)} parts={[{ kind: "used", amount: used }]} />
    </span>
  );
}

export const SchedulesPanel = ({ schedules, volumes }: Pick<StatementView, "schedules" | "volumes">) => (
  <section className="panel" aria-labelledby="schedules">
    <div className="panel-head">
      <h2 id="schedules">Fee schedules</h2>
    </div>
    <Ledger
      caption="Fee schedules that concern this organization"
      rows={schedules}
      rowKey={({ feeScheduleId }) => feeScheduleId}
      columns={[
        ...scheduleColumns,
        {
          name: "Included",
          cell: (schedule) => (schedule.includedMonthlyVolume === 0 ? null : <Included schedule={schedule} volumes={volumes} />),
        },
        {
          name: "Holds",
          cell: ({ feeScheduleId, effectiveFrom, effectiveUntil }) =>
            feeScheduleId === "fs_default" ? (
              "Always"
            ) : (
              <span>
                From <Moment at={effectiveFrom} show="date" />
                {effectiveUntil !== undefined && (
                  <>
                    {" "}
                    until <Moment at={effectiveUntil} show="date" />
                  </>
                )}
              </span>
            ),
        },
        statusColumn,
      ]}
    />
    <div className="panel-foot">The most specific schedule applies to a payment; if two are equally specific, the newer one.</div>
  </section>
);
