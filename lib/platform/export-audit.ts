import type { ChainedEvent } from "#lib/audit/chain.ts";
import { publicKeys } from "#lib/audit/signing-key.ts";
import { selectChains, selectCheckpoints } from "#lib/audit/checkpoint-store.ts";
import { readEvents } from "#lib/audit/read-store.ts";
import { csvLine } from "#lib/http/csv.ts";
import { presentEvent } from "#lib/audit/list-audit-events.ts";
import { toWire } from "#lib/time.ts";

const BATCH = 500;

async function* chainsOf(chain: string | undefined): AsyncGenerator<string> {
  if (chain !== undefined) return yield chain;
  let after = "";
  for (;;) {
    const names = await selectChains(after, BATCH);
    yield* names;
    if (names.length < BATCH) return;
    after = names.at(-1) ?? "";
  }
}

async function* eventsOf(chain: string): AsyncGenerator<ChainedEvent> {
  let after = 0;
  for (;;) {
    const events = await readEvents(chain, after, Number.MAX_SAFE_INTEGER, BATCH);
    yield* events;
    if (events.length < BATCH) return;
    after = events.at(-1)?.sequence ?? after;
  }
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Everything that is needed to check the chains without us: the public key, each event with its position, each checkpoint. */
async function* ndjson(chain: string | undefined): AsyncGenerator<string> {
  yield line(publicKeys());
  for await (const name of chainsOf(chain)) {
    for await (const event of eventsOf(name)) {
      yield line({ chain: name, sequence: event.sequence, event: presentEvent(event) });
    }
    for (let after = 0; ;) {
      const checkpoints = await selectCheckpoints(name, after, BATCH);
      for (const { createdAt, ...checkpoint } of checkpoints)
        yield line({ checkpoint: { ...checkpoint, createdAt: toWire(createdAt) } });
      if (checkpoints.length < BATCH) break;
      after = checkpoints.at(-1)?.sequence ?? after;
    }
  }
}

const columns = [
  "chain",
  "sequence",
  "createdAt",
  "type",
  "actorId",
  "organizationId",
  "subjectId",
  "entityType",
  "entityId",
] as const;

async function* csv(chain: string | undefined): AsyncGenerator<string> {
  yield csvLine([...columns, "auditEventId", "hash", "metadata"]);
  for await (const name of chainsOf(chain)) {
    for await (const event of eventsOf(name)) {
      const row = { ...event, sequence: String(event.sequence), createdAt: toWire(event.createdAt) };
      const cells = columns.map((column) => row[column] ?? "");
      yield csvLine([...cells, event.auditEventId, event.hash, JSON.stringify(event.metadata)]);
    }
  }
}

/** The lines of an export file, for one chain or for all of them. */
export const exportAudit = { ndjson, csv } as const;
