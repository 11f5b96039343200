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
 * Proves that an event is in its chain (the inclusion), that the chain of checkpoints names a head of that chain (`log`), and that the head
 * of the chain of checkpoints is signed (`head`).
 */
export type EventProof = Inclusion & { readonly log: Inclusion; readonly head: string };

/** Milliseconds that a caller waits for a signature. The signing continues after that, so the next caller gets the proof. */
const WAIT_MS = 3_000;
/**
 * Milliseconds in which requests are collected before a chain is signed for all of them. So a process signs a chain at most twice a second
 * on demand.
 */
const GATHER_MS = 500;
/** How many chains a process signs on demand at the same time. */
const SIGNING_MAX = 4;

const signing = (): Map<string, Promise<void>> => perProcess("signingNow", () => new Map());

/** Refuses to prove an event that differs from its hash or from the signed log. @throws Problem service_unavailable */
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
 * The proof from the newest signed heads; null if these do not include the event yet.
 * @throws Problem if the signed log has another event in this place
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
 * Proves an event. Signs the chain's head now if no signed head includes the event. Null if that is not possible in time.
 * @throws Problem if the event was changed in the database
 */
export async function proveEvent(event: ChainedEvent): Promise<EventProof | null> {
  if (hashEvent(event) !== event.hash) refuse(event);
  const proof = await signedProof(event);
  if (proof) return proof;
  await atMost(signOnce(event.chain), WAIT_MS, null);
  return signedProof(event);
}
