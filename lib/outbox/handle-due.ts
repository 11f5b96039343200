import { database, type Tx } from "#lib/db/client.ts";
import { databaseAway, sqlState } from "#lib/db/failure.ts";
import { dueIds, hasDue, lockDue, countFailure, type Outbox } from "#lib/outbox/store.ts";
import { log } from "#lib/telemetry/log.ts";

/** Few in one transaction, because each row can cause a message to every person of an organization. */
const ROWS = 10;
const ATTEMPTS_MAX = 5;

type Handling<T extends Outbox["table"]> = {
  readonly outbox: Outbox<T>;
  /** Ends or postpones each of the rows, which stay locked until `tx` commits. */
  readonly work: (tx: Tx, rows: readonly T["$inferSelect"][]) => Promise<void>;
  readonly failed: string;
};

const handleSome = <T extends Outbox["table"]>({ outbox, work }: Handling<T>, id?: string): Promise<number> =>
  database().transaction(async (tx) => {
    const rows = await lockDue(tx, outbox, ROWS, id);
    if (rows.length > 0) await work(tx, rows);
    return rows.length;
  });

/** Such an error says nothing about the row. A canceled statement may be one that takes too long for this row. */
const isOfDatabase = (error: unknown): boolean => databaseAway(error) && sqlState(error) !== "57014";

/** If the transaction for several ids fails, each id gets its own, so that a bad one stops no other. */
async function handleTogether<T extends Outbox["table"]>(handling: Handling<T>): Promise<number> {
  try {
    return await handleSome(handling);
  } catch (error) {
    if (isOfDatabase(error)) throw error;
    log().warn({ err: error }, `${handling.failed}. Each is tried alone now`);
  }
  let handled = 0;
  // While the database is away no failed attempt is counted, or the rows would end after a few.
  for (const id of await dueIds(handling.outbox, ROWS)) {
    try {
      handled += await handleSome(handling, id);
    } catch (error) {
      if (isOfDatabase(error)) throw error;
      log().error({ id, err: error }, handling.failed);
      await countFailure(handling.outbox, id, ATTEMPTS_MAX);
    }
  }
  return handled;
}

/** For work that only writes to the database, so that it needs no lease. Returns the number of handled rows. */
export async function handleDue<T extends Outbox["table"]>(handling: Handling<T>): Promise<number> {
  if (!(await hasDue(handling.outbox))) return 0;
  for (let handled = 0; ;) {
    const count = await handleTogether(handling);
    handled += count;
    if (count < ROWS) return handled;
  }
}
