import { setTimeout } from "node:timers/promises";
import { eventText, hashEvent, type AuditEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { headOf } from "#lib/audit/heads/checkpoint.ts";
import { newestCheckpoint, SIGNED } from "#lib/audit/checkpoint-store.ts";
import { furthestSigned, storedHashes } from "#lib/audit/read-store.ts";
import { signNow } from "#lib/audit/sign-checkpoints.ts";
import { inclusionPath, rootFromPath, type StoredHash } from "#lib/audit/tree.ts";
import { log } from "#lib/telemetry/log.ts";
import { Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";
import { atMost } from "#lib/time.ts";

/** An inclusion proof (RFC 9162) in the tree of the first `treeSize` events. `event` is the text that is hashed as the leaf. */
export type Inclusion = {
  readonly event: string;
  readonly leafIndex: number;
  readonly treeSize: number;
  readonly path: string[];
};

/** Proves that the event is in its log and the log's head in the log "checkpoints" (`log`), whose head is signed (`head`). */
export type EventProof = Inclusion & { readonly log: Inclusion; readonly head: string };

/** The signing continues after this time, so that a later call can get the proof. */
const WAIT_MS = 3_000;
/** One signature serves all requests of this time, so requests about one log make a process sign it at most twice a second. */
const GATHER_MS = 500;
/** At most this many audit logs are signed at the same time because of requests, in each process. */
const SIGNING_MAX = 4;

const signing = (): Map<string, Promise<void>> => perProcess("audit/prove-event", () => new Map());

/** @throws Problem service_unavailable */
function refuse({ chain, sequence, auditEventId }: ChainedEvent): never {
  log().fatal(
    { chain, sequence, auditEventId },
    "An event differs from its hash or from the signed log: somebody changed the database",
  );
  throw new Problem("service_unavailable", {
    detail:
      "The stored event differs from the log that was signed, so nothing can be proved with it. An operator must verify the audit.",
  });
}

type Placed = AuditEvent & { readonly chain: string; readonly sequence: number };

export async function inclusionOf(event: Placed, treeSize: number): Promise<Inclusion> {
  const leafIndex = event.sequence - 1;
  const calculate = (stored: StoredHash) => inclusionPath(leafIndex, treeSize, stored);
  return { event: eventText(event), leafIndex, treeSize, path: calculate(await storedHashes(event.chain, calculate)) };
}

const isIn = (event: ChainedEvent, { leafIndex, treeSize, path }: Inclusion, root: unknown): boolean =>
  rootFromPath(event.hash, leafIndex, treeSize, path) === root;

/** Null if no signed tree head covers the event yet, or if none of our keys signed the newest head of the log "checkpoints". */
async function signedProof(event: ChainedEvent): Promise<EventProof | null> {
  const checkpoint = await newestCheckpoint(SIGNED);
  const head = checkpoint && headOf(checkpoint);
  if (!checkpoint || !head) return null;
  const named = await furthestSigned(event.chain, checkpoint.sequence);
  const treeSize = Number(named?.metadata["sequence"] ?? 0);
  if (!named || treeSize < event.sequence) return null;
  const [inclusion, inLog] = await Promise.all([inclusionOf(event, treeSize), inclusionOf(named, checkpoint.sequence)]);
  if (hashEvent(named) !== named.hash || !isIn(named, inLog, checkpoint.hash)) return refuse(named);
  if (!isIn(event, inclusion, named.metadata["hash"])) return refuse(event);
  return { ...inclusion, log: inLog, head };
}

function signOnce(chain: string): Promise<void> {
  const running = signing();
  const known = running.get(chain);
  if (known || running.size >= SIGNING_MAX) return known ?? Promise.resolve();
  const work = setTimeout(GATHER_MS)
    .then(() => signNow(chain))
    .catch((error: unknown) =>
      log().error({ chain, error }, "A chain could not be signed for a proof; the worker signs it later"),
    )
    .finally(() => running.delete(chain));
  running.set(chain, work);
  return work;
}

/** If there is no proof yet, signs the log now. Null if that fails or is too slow, or if SIGNING_MAX logs are in work. */
export async function proveEvent(event: ChainedEvent): Promise<EventProof | null> {
  if (hashEvent(event) !== event.hash) refuse(event);
  const proof = await signedProof(event);
  if (proof) return proof;
  await atMost(signOnce(event.chain), WAIT_MS, null);
  return signedProof(event);
}
