import { deleteInBatches } from "#lib/db/delete-in-batches.ts";
import { deleteOldNotices } from "#lib/notices/rows/notice-store.ts";

const KEPT_DAYS = 30;

export const forgetOldNotices = (): Promise<number> => deleteInBatches((rows) => deleteOldNotices(KEPT_DAYS, rows));
