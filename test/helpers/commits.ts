import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";

/** Creates the table `commits`, which gives numbers to audit events in the order in which their transactions commit. */
export async function noteCommits(): Promise<void> {
  await database().execute(
    sql`CREATE TABLE commits (number bigserial, chain text, type text, actor_id text, entity_id text, mandate_id text)`,
  );
  await database().execute(sql`CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO commits (chain, type, actor_id, entity_id, mandate_id)
      SELECT chain, type, actor_id, entity_id, metadata ->> 'mandateId' FROM audit_events
      WHERE chain = to_json(NEW) ->> TG_ARGV[0] AND sequence = NEW.sequence; RETURN NULL; END $$`);
  for (const [table, chain] of [
    ["audit_entries", "chain"],
    ["authorizations", "organization_id"],
  ]) {
    await database().execute(
      sql.raw(`CREATE CONSTRAINT TRIGGER note_commit AFTER INSERT ON ${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_commit(${chain})`),
    );
  }
}
