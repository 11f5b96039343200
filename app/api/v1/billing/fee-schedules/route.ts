import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/billing/contract.ts";
import { listFeeSchedules } from "#lib/billing/list-fee-schedules.ts";
import { saveFeeSchedule } from "#lib/billing/save-fee-schedule.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listFeeSchedules, listFeeSchedules),
  route(contract.saveFeeSchedule, saveFeeSchedule),
);
