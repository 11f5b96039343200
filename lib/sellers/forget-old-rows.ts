import { database, type Database } from "#lib/db/client.ts";
import { deleteOldChallenges } from "#lib/sellers/pay-to-store.ts";
import { deleteOldOffers } from "#lib/sellers/seen-offer-store.ts";

const AT_ONCE = 1_000;
/** The maximum number of batches in one run. If more rows are left, the next runs delete them. */
const ROUNDS_MAX = 50;

async function inRounds(remove: (db: Database, limit: number) => Promise<number>): Promise<number> {
  let gone = 0;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const count = await remove(database(), AT_ONCE);
    gone += count;
    if (count < AT_ONCE) break;
  }
  return gone;
}

export const forgetOldOffers = (): Promise<number> => inRounds(deleteOldOffers);

export const forgetOldChallenges = (): Promise<number> => inRounds(deleteOldChallenges);
