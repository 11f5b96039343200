import { findAlarm } from "#lib/audit/alarm-store.ts";
import { genesis, type AuditHead } from "#lib/audit/chain.ts";
import { isSignedBy, type Checkpoint, type SigningKey } from "#lib/audit/checkpoint.ts";
import { newestCheckpoint, newestCheckpointBy, furthestNamed } from "#lib/audit/checkpoint-store.ts";
import { readEnds, readEvents } from "#lib/audit/read-store.ts";
import { checkEnd, followChain, type Bad } from "#lib/audit/follow-chain.ts";
import { perProcess } from "#lib/process.ts";

const BATCH = 500;
const REMEMBERED_MAX = 100_000;

/** Heads that this process signed; access to the database cannot change them. The only evidence for the chain of checkpoints. */
const remembered = (): Map<string, AuditHead> => perProcess("signedHeads", () => new Map());

export function remember(chain: string, { sequence, hash }: AuditHead): void {
  const heads = remembered();
  heads.delete(chain);
  heads.set(chain, { sequence, hash });
  const [oldest] = heads.keys();
  if (heads.size > REMEMBERED_MAX && oldest !== undefined) heads.delete(oldest);
}

export type SignedHeads = {
  /** Sorted by sequence. */
  readonly heads: readonly AuditHead[];
  /** Whether the chain of checkpoints names this chain under this key. */
  readonly named: boolean;
  /** A checkpoint that names this key and lacks its valid signature. */
  readonly forged: Checkpoint | null;
};

/**
 * All known signed heads of a chain. The signature of another key cannot be checked, but the chain must continue from that head as well.
 */
export async function signedOf(chain: string, key: SigningKey): Promise<SignedHeads> {
  const own = await newestCheckpointBy(chain, key.keyId);
  const named = await furthestNamed(chain, key.keyId);
  const newest = await newestCheckpoint(chain);
  const alarm = await findAlarm(chain);
  const claimed = [own, named].filter((one) => one !== null);
  const forged = claimed.find((one) => !isSignedBy(one, key)) ?? null;
  const heads: AuditHead[] = claimed.filter((one) => isSignedBy(one, key));
  if (newest && newest.keyId !== key.keyId) heads.push(newest);
  if (alarm) heads.push({ sequence: alarm.signedSequence, hash: alarm.signedHash });
  const seen = remembered().get(chain);
  if (seen) heads.push(seen);
  const inOrder = heads.map(({ sequence, hash }) => ({ sequence, hash })).toSorted((a, b) => a.sequence - b.sequence);
  return { heads: inOrder, named: named !== null, forged };
}

const differs = (sequence: number): Bad => ({ sequence, detail: "The chain differs from its signed head here." });

/** Whether the chain has the event of this head; sequence 0 is the start of every chain. */
async function isThere(chain: string, { sequence, hash }: AuditHead): Promise<boolean> {
  if (sequence === 0) return hash === genesis.hash;
  const [event] = await readEvents(chain, sequence - 1, sequence, 1);
  return event?.hash === hash;
}

/**
 * Verifies a chain from its first head in `signed` to its current end. `signed` was read before the end, so a process that signs meanwhile
 * signs a later head.
 */
export async function followSigned(chain: string, signed: readonly AuditHead[]): Promise<AuditHead | Bad> {
  let head = signed[0] ?? genesis;
  if (!(await isThere(chain, head))) return differs(head.sequence);
  const ends = await readEnds(chain);
  const last = signed.at(-1)?.sequence ?? 0;
  if (!ends || ends.sequence < last)
    return { sequence: (ends?.sequence ?? 0) + 1, detail: "The chain ends before its signed head." };
  while (head.sequence < ends.sequence) {
    const events = await readEvents(chain, head.sequence, ends.sequence, BATCH);
    if (events.length === 0) break;
    const followed = followChain(head, events);
    const other = signed.find((one) => events.some(({ sequence, hash }) => sequence === one.sequence && hash !== one.hash));
    if (followed.bad ?? other) return followed.bad ?? differs(other?.sequence ?? 0);
    head = followed.head;
  }
  return checkEnd(head, ends, ends.newest) ?? head;
}
