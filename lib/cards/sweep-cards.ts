import { changeConnection, connectionsUnderKeys, findCardConnection } from "#lib/cards/connection-store.ts";
import { askUnconfirmed, followAgain } from "#lib/cards/follow-card.ts";
import { sealSecret, secretsOf } from "#lib/cards/secrets.ts";
import { database } from "#lib/db/client.ts";
import { overTails, silentCards, type CardAuthorizationRow } from "#lib/holds/card-store.ts";
import { ringIds } from "#lib/key-ring.ts";
import { log } from "#lib/telemetry/log.ts";

const AT_ONCE = 100;
const RESEALED = 500;

/** One that fails, such as because its mandate is locked, comes again in the next sweep and does not keep the others waiting. */
async function each(rows: readonly CardAuthorizationRow[], work: (row: CardAuthorizationRow) => Promise<unknown>): Promise<void> {
  for (const row of rows) {
    try {
      await work(row);
    } catch (err) {
      log().warn({ err, stripeId: row.stripeId }, "What a card holds was not followed");
    }
  }
}

/** Frees what expired authorizations hold after their tail, and asks people about what Stripe has told nothing of. Returns their number. */
export async function sweepCards(): Promise<number> {
  const over = await overTails(database(), AT_ONCE);
  await each(over, followAgain);
  const silent = await silentCards(database(), AT_ONCE);
  await each(silent, askUnconfirmed);
  return over.length + silent.length;
}

/** Encrypts with the ring's first key, so that older keys can be removed. Returns how many connections it found, at most 500. */
export async function resealCardSecrets(): Promise<number> {
  const [, ...older] = ringIds();
  const ids = await connectionsUnderKeys(database(), older, RESEALED);
  for (const connectionId of ids)
    await database().transaction(async (tx) => {
      const row = await findCardConnection(tx, connectionId, "no key update");
      if (row)
        await changeConnection(tx, connectionId, { secrets: secretsOf(row).map((secret) => sealSecret(secret, connectionId)) });
    });
  return ids.length;
}
