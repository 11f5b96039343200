import { StatusBadge } from "#components/ui/status-badge.tsx";
import type { FeeSchedule } from "#lib/billing/billing-schema.ts";
import { appliesText, chargeText, payerText } from "./schedule-words.ts";

export const scheduleColumns = [
  {
    name: "Schedule",
    cell: (schedule: FeeSchedule) => (
      <>
        {schedule.name}
        <span className="sub">{appliesText(schedule)}</span>
      </>
    ),
  },
  { name: "Charges", cell: chargeText },
  { name: "Paid by", cell: payerText },
];

export const statusColumn = {
  name: "Status",
  cell: ({ status }: FeeSchedule) => <StatusBadge of="feeSchedule" status={status} />,
};
