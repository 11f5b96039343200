import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";

/** Creates the table `commits`, which numbers audit events in the order in which their transactions commit. */
export async function noteCommits(): Promise<void> {
  await database().execute(
    sql`CREATE TABLE commits (number bigserial, chain text, type text, actor_id text, entity_id text, mandate_id text)`,
  );
  await database().execute(sql`CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO commits (chain, type, actor_id, entity_id, mandate_id)
      VALUES (NEW.chain, NEW.type, NEW.actor_id, NEW.entity_id, NEW.metadata ->> 'mandateId'); RETURN NULL; END $$`);
  await database().execute(sql`CREATE CONSTRAINT TRIGGER note_commit AFTER INSERT ON audit_events
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_commit()`);
}
