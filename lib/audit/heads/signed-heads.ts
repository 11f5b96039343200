import { findAlarm, furthestNamed, newestCheckpoint, newestCheckpointBy, SIGNED } from "#lib/audit/checkpoint-store.ts";
import { genesis, type AuditHead, type SignedHead } from "#lib/audit/chain.ts";
import { isSigned } from "#lib/audit/heads/checkpoint.ts";
import { furthestKeptHead, type KeptHead } from "#lib/audit/heads/heads-file.ts";
import { readEnds, readEvents, storedHashes } from "#lib/audit/read-store.ts";
import { checkEnd, followChain, type Bad, type Followed } from "#lib/audit/heads/follow-chain.ts";
import { signingKeys } from "#lib/audit/signing-key.ts";
import { peaksAt, rootOf, type StoredHash } from "#lib/audit/tree.ts";
import { perProcess } from "#lib/process.ts";

const BATCH = 500;
const REMEMBERED_MAX = 100_000;

/** The newest tree heads that this process signed, in memory, which a person who can change only the database cannot change. */
const remembered = (): Map<string, SignedHead> => perProcess("audit/heads/signed-heads", () => new Map());

export function remember(chain: string, { sequence, hash }: SignedHead): void {
  const heads = remembered();
  heads.delete(chain);
  heads.set(chain, { sequence, hash });
  const [oldest] = heads.keys();
  if (heads.size > REMEMBERED_MAX && oldest !== undefined) heads.delete(oldest);
}

const FORGED = "A checkpoint names a key of this installation and is not signed by it.";

export type SignedHeads = {
  /** Sorted by sequence. Of two with the same sequence, the one that this installation signed comes first. */
  readonly heads: readonly SignedHead[];
  /** Whether the audit log "checkpoints" records a tree head of this log that names one of this installation's keys. */
  readonly named: boolean;
  /** Why the heads cannot be trusted: one names this service's key without its signature, or AUDIT_HEADS_FILE is unusable. */
  readonly bad: Bad | null;
};

/**
 * Reads all places that store signed tree heads; with `databaseAlone`, those that a backup of the database restores. The signature
 * of an unknown key is not checked, but the log must agree.
 */
export async function signedOf(chain: string, { databaseAlone = false } = {}): Promise<SignedHeads> {
  const keyIds = signingKeys().map(({ keyId }) => keyId);
  const own = await newestCheckpointBy(chain, keyIds);
  const named = await furthestNamed(chain, keyIds);
  const newest = await newestCheckpoint(chain);
  const alarm = databaseAlone ? null : await findAlarm(chain);
  const claimed = [own, named].filter((one) => one !== null);
  const forged = claimed.find((one) => !isSigned(one));
  const heads: SignedHead[] = claimed.filter(isSigned);
  const kept: KeptHead = chain === SIGNED && !databaseAlone ? await furthestKeptHead() : { head: null };
  if (kept.head) heads.push(kept.head);
  const seen = databaseAlone ? undefined : remembered().get(chain);
  if (seen) heads.push(seen);
  // Add these last: a person who can change the database could forge them, and of the lowest sequence only the first head counts.
  if (newest && !keyIds.includes(newest.keyId)) heads.push(newest);
  if (alarm) heads.push({ sequence: alarm.signedSequence, hash: alarm.signedHash });
  const inOrder = heads.map(({ sequence, hash }) => ({ sequence, hash })).toSorted((a, b) => a.sequence - b.sequence);
  const detail = forged ? FORGED : kept.detail;
  const bad = detail === undefined ? null : { sequence: forged?.sequence ?? 0, detail };
  return { heads: inOrder, named: named !== null, bad };
}

/** The peaks are read from the stored hashes; null if their root is not the signed one, because a peak is forged then. */
async function headAt(chain: string, { sequence, hash }: SignedHead): Promise<AuditHead | null> {
  const calculate = (stored: StoredHash) => peaksAt(sequence, stored);
  const peaks = calculate(await storedHashes(chain, calculate));
  return rootOf(peaks) === hash ? { sequence, hash, peaks } : null;
}

/** Read `signed` before this call: if other processes signed newer events meanwhile, the log would seem to have lost them. */
export async function followSigned(chain: string, signed: readonly SignedHead[]): Promise<AuditHead | Bad> {
  const first = signed[0] ?? genesis;
  let head = await headAt(chain, first);
  if (!head) return { sequence: first.sequence, detail: "The chain differs from its signed checkpoint here." };
  const ends = await readEnds(chain);
  const last = signed.at(-1)?.sequence ?? 0;
  if (!ends || ends.sequence < last)
    return { sequence: (ends?.sequence ?? 0) + 1, detail: "The chain ends before its signed checkpoint." };
  while (head.sequence < ends.sequence) {
    const events = await readEvents(chain, head.sequence, ends.sequence, BATCH);
    if (events.length === 0) break;
    const followed: Followed = followChain(head, events, signed);
    if (followed.bad) return followed.bad;
    head = followed.head;
  }
  return checkEnd(head, ends) ?? head;
}
