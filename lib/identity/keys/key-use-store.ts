import { pool } from "#lib/db/client.ts";

export type KeyUse = {
  readonly keyId: string;
  /** The database subtracts this from its own time, because the clock of the process may be wrong. */
  readonly secondsAgo: number;
  readonly address: string;
  readonly userAgent: string | null;
};

/** A stored time that is later than a use by more than any use is old is ahead of now: it was stored while the clock ran ahead. */
export async function saveKeyUses(uses: readonly KeyUse[]): Promise<void> {
  const oldest = Math.max(...uses.map(({ secondsAgo }) => secondsAgo));
  await pool()`
    INSERT INTO key_uses AS k (key_id, last_used_at, address, user_agent)
    SELECT w.key_id, clock_timestamp() - make_interval(secs => w.ago::float8), w.address, w.user_agent
    FROM unnest(${uses.map(({ keyId }) => keyId)}::text[], ${uses.map(({ secondsAgo }) => String(secondsAgo))}::text[],
      ${uses.map(({ address }) => address)}::text[], ${uses.map(({ userAgent }) => userAgent)}::text[])
      AS w(key_id, ago, address, user_agent)
    ORDER BY w.key_id
    ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at, address = excluded.address, user_agent = excluded.user_agent
    WHERE excluded.last_used_at > k.last_used_at 
      OR k.last_used_at - excluded.last_used_at > ${oldest}::float8 * interval '1 second'`;
}
