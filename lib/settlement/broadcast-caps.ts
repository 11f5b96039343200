import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { createBuckets } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";
import { countSettlement } from "#lib/settlement/store.ts";

/** Transactions a second that one seller may have us pay for, in this process. */
const PER_SECOND = 50;

const perSeller = () => perProcess("rateLimit.broadcast", () => createBuckets("settlements", PER_SECOND));

/** Gas is ours: each seller has a rate and a daily number of settlements. Counts one. */
export const mayBroadcast = async (tx: Tx, sellerOrganizationId: string): Promise<boolean> =>
  perSeller()(sellerOrganizationId).allowed && countSettlement(tx, sellerOrganizationId, env().SETTLEMENT_DAILY_CAP);
