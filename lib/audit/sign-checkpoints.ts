import { signCheckpoint, signingKey } from "#lib/audit/checkpoint.ts";
import { dueHeads, saveCheckpoints } from "#lib/audit/checkpoint-store.ts";
import { clock } from "#lib/audit/store.ts";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/http/log.ts";

const AFTER_SECONDS = 300;
const AFTER_EVENTS = 1_000;
const BATCH = 500;

/**
 * Signs the heads of chains that went on for five minutes or by a thousand events. What the platform's chain had is logged too, so that
 * it stands outside of the database. Answers how many were signed.
 */
export async function signCheckpoints({ afterSeconds = AFTER_SECONDS, afterEvents = AFTER_EVENTS } = {}): Promise<number> {
  const key = signingKey();
  let signed = 0;
  for (;;) {
    const due = await dueHeads(key.keyId, afterSeconds, afterEvents, BATCH);
    const createdAt = await clock(database());
    const checkpoints = due.map((head) => signCheckpoint({ ...head, createdAt }, key));
    await saveCheckpoints(checkpoints);
    signed += checkpoints.length;
    const own = checkpoints.find(({ chain }) => chain === "platform");
    if (own)
      log().info({ sequence: own.sequence, hash: own.hash, checkpoint: own.signature }, "The platform's audit chain was signed");
    if (due.length < BATCH) return signed;
  }
}
