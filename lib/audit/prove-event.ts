import { setTimeout } from "node:timers/promises";
import { hashEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { headOf } from "#lib/audit/checkpoint.ts";
import { newestCheckpoint, SIGNED } from "#lib/audit/checkpoint-store.ts";
import { inclusionOf, type Inclusion } from "#lib/audit/inclusion.ts";
import { furthestSigned } from "#lib/audit/read-store.ts";
import { signNow } from "#lib/audit/sign-checkpoints.ts";
import { rootFromPath } from "#lib/audit/tree.ts";
import { log } from "#lib/telemetry/log.ts";
import { Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";
import { atMost } from "#lib/time.ts";

/**
 * Proves that an event was not changed, in three steps: the event is in its audit log, the log "checkpoints" records a signed
 * tree head of that audit log (`log`), and the tree head of the log "checkpoints" is signed (`head`).
 */
export type EventProof = Inclusion & { readonly log: Inclusion; readonly head: string };

/** A caller waits this many milliseconds for a signature. The signing continues after that, so a later call gets the proof. */
const WAIT_MS = 3_000;
/**
 * Requests for proofs are collected for this many milliseconds, and then one signature serves all of them. So requests make a
 * process sign an audit log at most twice a second.
 */
const GATHER_MS = 500;
/** How many audit logs a process signs at the same time because of requests. */
const SIGNING_MAX = 4;

const signing = (): Map<string, Promise<void>> => perProcess("signingNow", () => new Map());

/**
 * Reports an event that differs from its hash or from the signed log, and refuses to prove it. @throws Problem
 * service_unavailable
 */
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

const isIn = (event: ChainedEvent, { leafIndex, treeSize, path }: Inclusion, root: unknown): boolean =>
  rootFromPath(event.hash, leafIndex, treeSize, path) === root;

/**
 * Makes the proof from the newest signed tree heads. Returns null if no signed tree head covers the event yet, or if no key of
 * this installation signed the newest tree head.
 * @throws Problem if the signed log has a different event in this place
 */
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

/**
 * Proves an event. If the event is newer than all signed tree heads, signs the log now. Returns null if the signature is not
 * ready in time, or if SIGNING_MAX logs are already being signed.
 * @throws Problem if the event was changed in the database
 */
export async function proveEvent(event: ChainedEvent): Promise<EventProof | null> {
  if (hashEvent(event) !== event.hash) refuse(event);
  const proof = await signedProof(event);
  if (proof) return proof;
  await atMost(signOnce(event.chain), WAIT_MS, null);
  return signedProof(event);
}
