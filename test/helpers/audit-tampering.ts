import { chainEvents, genesis, type ChainedEvent } from "#lib/audit/chain.ts";
import { hashedMetadata } from "#lib/audit/commitment.ts";
import { readEnds, readEvents, type Ends } from "#lib/audit/read-store.ts";
import { auditEntries } from "#lib/audit/tables.ts";
import { readPeaks, writePeaks } from "#lib/audit/tree.ts";
import { database, mainPool } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";

/** Changes rows without running triggers, as an attacker could who is a superuser of the database but lacks the signing key. */
export const tamper = async (...statements: string[]): Promise<void> => {
  await mainPool().begin(async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`;
    for (const statement of statements) await sql.unsafe(statement);
  });
};

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * Replaces the metadata of an event and computes the chain's hashes again, but not its signed checkpoints. Returns a function
 * that undoes the change.
 */
export async function rewrite(name: string, sequence: number): Promise<() => Promise<void>> {
  const events = await readEvents(name, 0, Number.MAX_SAFE_INTEGER, 1_000);
  const changed = events.map((event) => (event.sequence === sequence ? { ...event, metadata: { forged: true } } : event));
  const write = async (rows: typeof events) => {
    const { events: chained, head } = chainEvents(name, genesis, rows);
    await tamper(
      ...chained.map(
        (row) => `UPDATE audit_entries SET metadata = ${quoted(JSON.stringify(hashedMetadata(row)))}, hash = ${quoted(row.hash)},
            node = ${row.node === null ? "NULL" : quoted(row.node)}
          WHERE chain = ${quoted(name)} AND sequence = ${row.sequence}`,
      ),
      `UPDATE audit_heads SET hash = ${quoted(head.hash)}, peaks = ${quoted(writePeaks(head.peaks))} WHERE chain = ${quoted(name)}`,
    );
  };
  await write(changed);
  return () => write(events);
}

/** Appends an event to an audit chain as the service would. */
export async function append(name: string, event: ChainedEvent): Promise<void> {
  const ends = (await readEnds(name))!;
  const from = { sequence: ends.sequence, peaks: readPeaks(ends.peaks) };
  const { events, head } = chainEvents(name, from, [{ ...event, auditEventId: newId("audit") }]);
  await database()
    .insert(auditEntries)
    .values({ ...events[0]!, metadata: hashedMetadata(events[0]!) });
  await setHead(name, { ...head, peaks: writePeaks(head.peaks) });
}

export const setHead = (name: string, { sequence, hash, peaks }: Pick<Ends, "sequence" | "hash" | "peaks">) =>
  tamper(
    `UPDATE audit_heads SET sequence = ${sequence}, hash = ${quoted(hash)}, peaks = ${quoted(peaks)} WHERE chain = ${quoted(name)}`,
  );

export const dropCheckpoints = (name: string, after = 0) =>
  tamper(`DELETE FROM audit_checkpoints WHERE chain = ${quoted(name)} AND sequence > ${after}`);

/** Removes what was appended to the chain of checkpoints after `ends`, and restores the end of the chain. */
export const cutCheckpoints = async (ends: Ends): Promise<void> => {
  await tamper(
    `DELETE FROM audit_entries WHERE chain = 'checkpoints' AND sequence > ${ends.sequence}`,
    `DELETE FROM audit_checkpoints WHERE chain = 'checkpoints' AND sequence > ${ends.sequence}`,
  );
  await setHead("checkpoints", ends);
};
