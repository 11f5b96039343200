import type { ChainedEvent } from "#lib/audit/chain.ts";
import { publicKeys } from "#lib/audit/signing-key.ts";
import { selectChains, selectCheckpoints } from "#lib/audit/checkpoint-store.ts";
import { readEvents } from "#lib/audit/read-store.ts";
import { compileAccess } from "#lib/http/access.ts";
import { csvLine } from "#lib/http/csv.ts";
import { authenticateReader } from "#lib/identity/sessions/authenticate.ts";
import { listPlatformAuditEvents } from "#lib/platform/contract.ts";
import { presentEvent } from "#lib/audit/list-audit-events.ts";
import { toWire } from "#lib/time.ts";

const PAGE = 500;
/** Enough for fifty million events and checkpoints together. */
const PAGES_MAX = 100_000;
const NOT_COMPLETE = "This file is not complete: the export reached its limit. Export the missing chains one by one.";

const requireAccess = compileAccess(listPlatformAuditEvents.access);

async function* chainsOf(chain: string | undefined): AsyncGenerator<string> {
  if (chain !== undefined) return yield chain;
  let after = "";
  for (;;) {
    const names = await selectChains(after, PAGE);
    yield* names;
    if (names.length < PAGE) return;
    after = names.at(-1) ?? "";
  }
}

type Line = { readonly sequence: number; readonly text: string };
type ReadPage = (chain: string, after: number) => Promise<readonly Line[]>;

const json = (value: unknown): string => `${JSON.stringify(value)}\n`;

const readPage = (chain: string, after: number): Promise<readonly ChainedEvent[]> =>
  readEvents(chain, after, Number.MAX_SAFE_INTEGER, PAGE);

const eventsAsJson: ReadPage = async (chain, after) => {
  const events = await readPage(chain, after);
  return events.map((event) => {
    const { sequence } = event;
    return { sequence, text: json({ chain, sequence, event: presentEvent(event) }) };
  });
};

const checkpointsAsJson: ReadPage = async (chain, after) => {
  const checkpoints = await selectCheckpoints(chain, after, PAGE);
  return checkpoints.map(({ createdAt, ...checkpoint }) => ({
    sequence: checkpoint.sequence,
    text: json({ checkpoint: { ...checkpoint, createdAt: toWire(createdAt) } }),
  }));
};

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

const eventsAsCsv: ReadPage = async (chain, after) => {
  const events = await readPage(chain, after);
  return events.map((event) => {
    const row = { ...event, sequence: String(event.sequence), createdAt: toWire(event.createdAt) };
    const cells = columns.map((column) => row[column] ?? "");
    return {
      sequence: event.sequence,
      text: csvLine([...cells, event.auditEventId, event.hash, JSON.stringify(event.metadata)]),
    };
  });
};

const formats = {
  /** With the public keys and the checkpoints, a third party can check the chains without this service. */
  ndjson: {
    first: () => json(publicKeys()),
    pages: [eventsAsJson, checkpointsAsJson],
    last: json({ notComplete: NOT_COMPLETE }),
  },
  csv: {
    first: () => csvLine([...columns, "auditEventId", "hash", "metadata"]),
    pages: [eventsAsCsv],
    last: csvLine([NOT_COMPLETE]),
  },
} as const;

/**
 * If there are more than `pagesMax` pages, the last line says that lines are missing. @throws Problem unauthenticated,
 * capability_required before a page, so that the download breaks off
 */
export async function* exportPlatformAudit(
  cookie: string | null,
  chain: string | undefined,
  format: keyof typeof formats,
  pagesMax = PAGES_MAX,
): AsyncGenerator<string> {
  const { first, pages, last } = formats[format];
  yield first();
  let left = pagesMax;
  for await (const name of chainsOf(chain)) {
    for (const read of pages) {
      for (let after: number | undefined = 0; after !== undefined; left -= 1) {
        if (left === 0) return yield last;
        // Read the rights again before each page, because a person can lose them during a long download.
        requireAccess(await authenticateReader(cookie));
        const lines: readonly Line[] = await read(name, after);
        yield lines.map(({ text }) => text).join("");
        after = lines.length < PAGE ? undefined : lines.at(-1)?.sequence;
      }
    }
  }
}
