import { findLiveKeys, type KeyRow } from "#lib/identity/caller-store.ts";
import { perProcess } from "#lib/process.ts";

type Batch = { readonly keyIds: Set<string>; readonly rows: Promise<ReadonlyMap<string, KeyRow>> };
type Lookups = { waiting: Batch | null; running: Promise<unknown> };

const BATCH_MAX = 1_024;

const lookups = (): Lookups => perProcess("identity/keys/key-lookups", () => ({ waiting: null, running: Promise.resolve() }));

/** The batch takes keys until its query begins, after the previous query, so that no caller gets rows read before it asked. */
function openBatch(state: Lookups): Batch {
  const keyIds = new Set<string>();
  const rows = state.running
    .then(() => new Promise<void>((resolve) => void setImmediate(resolve)))
    .then(async () => {
      if (state.waiting === batch) state.waiting = null;
      const found = await findLiveKeys([...keyIds]);
      return new Map(found.map((row) => [row.keyId, row]));
    });
  state.running = rows.catch(() => {});
  const batch: Batch = { keyIds, rows };
  return batch;
}

/** Returns null if no valid key has this id; calls that wait at the same time share one query. */
export async function lookUpKey(keyId: string): Promise<KeyRow | null> {
  const state = lookups();
  if (!state.waiting || state.waiting.keyIds.size >= BATCH_MAX) state.waiting = openBatch(state);
  const { waiting } = state;
  waiting.keyIds.add(keyId);
  return (await waiting.rows).get(keyId) ?? null;
}
