import {
  countAlarms,
  dueChains,
  endAlarm,
  findAlarm,
  saveAlarm,
  saveCheckpoint,
  SIGNED,
  signedIsDue,
} from "#lib/audit/checkpoint-store.ts";
import { genesis } from "#lib/audit/chain.ts";
import { signCheckpoint } from "#lib/audit/heads/checkpoint.ts";
import { followSigned, remember, signedOf, type SignedHeads } from "#lib/audit/heads/signed-heads.ts";
import { signingKey } from "#lib/audit/signing-key.ts";
import { appendHead } from "#lib/audit/heads/heads-file.ts";
import { clock } from "#lib/audit/store.ts";
import type { Bad } from "#lib/audit/heads/follow-chain.ts";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";

const AFTER_SECONDS = 300;
const AFTER_EVENTS = 1_000;
const BATCH = 500;

/** Signs due audit logs, "checkpoints" last. A log that fails the check of its signed tree heads gets an alarm instead. */
export async function signCheckpoints({ afterSeconds = AFTER_SECONDS, afterEvents = AFTER_EVENTS } = {}): Promise<number> {
  const due = { keyId: signingKey().keyId, seconds: afterSeconds, events: afterEvents };
  let signed = 0;
  let place = "";
  for (;;) {
    const chains = await dueChains(due, place, BATCH);
    for (const chain of chains) if (await signOne(chain)) signed += 1;
    place = chains.at(-1) ?? "";
    if (chains.length < BATCH) break;
  }
  if ((signed > 0 || (await signedIsDue(due))) && (await signOne(SIGNED))) signed += 1;
  metrics().auditAlarms.set(await countAlarms());
  return signed;
}

/** A log with an alarm is left to the worker, because each request would otherwise check the log again. */
export async function signNow(chain: string): Promise<void> {
  for (const one of [chain, SIGNED]) if ((await findAlarm(one)) || !(await signOne(one))) return;
}

async function signOne(chain: string): Promise<boolean> {
  const signed = await signedOf(chain);
  const found = signed.bad ?? (await followSigned(chain, signed.heads));
  if ("detail" in found) {
    await raise(chain, found, signed);
    return false;
  }
  // An audit log without events has no tree head to sign.
  if (found.sequence === 0) return false;
  const checkpoint = signCheckpoint({ chain, ...found, createdAt: await clock(database()) }, signingKey());
  // Write to the file before the database, so that the file misses no signed tree head of the log "checkpoints".
  if (chain === SIGNED) await appendHead(checkpoint);
  await saveCheckpoint(checkpoint, signed.named);
  remember(chain, found);
  await endAlarm(chain);
  // The log entry copies the tree head out of the database. The log "checkpoints" contains the tree heads of all other logs.
  if (chain === SIGNED)
    log().info(
      { chain, sequence: found.sequence, hash: found.hash, head: checkpoint.signature },
      "The chain of the checkpoints was signed",
    );
  return true;
}

async function raise(chain: string, { sequence, detail }: Bad, { heads }: SignedHeads): Promise<void> {
  const { sequence: signedSequence, hash: signedHash } = heads.at(-1) ?? genesis;
  log().fatal(
    { chain, sequence, detail, signedSequence, signedHash },
    "An audit chain does not go on from what was signed of it: somebody changed the database. It is not signed any more",
  );
  await saveAlarm({ chain, sequence, detail, signedSequence, signedHash });
}
