import { entityOf, newestCheckpoint, SIGNED } from "#lib/audit/checkpoint-store.ts";
import type { ChainedEvent } from "#lib/audit/chain.ts";
import { inclusionOf, type Inclusion } from "#lib/audit/inclusion.ts";
import { newestEventAbout } from "#lib/audit/read-store.ts";
import { signNow } from "#lib/audit/sign-checkpoints.ts";
import { log } from "#lib/telemetry/log.ts";
import { perProcess } from "#lib/process.ts";
import { atMost } from "#lib/time.ts";

/** The proof that an event is in its chain, that the chain of checkpoints names this chain's head, and its own signed head. */
export type EventProof = Inclusion & { readonly log: Inclusion; readonly head: string };

/** How long a caller waits for a signature; it ends later for the next caller. */
const WAIT_MS = 3_000;
/** How many chains one process signs at once because somebody asked. */
const SIGNING_MAX = 4;

const signing = (): Map<string, Promise<void>> => perProcess("signingNow", () => new Map());

/** The proof with the newest signed heads; null if these do not include the event. */
async function signedProof(event: ChainedEvent): Promise<EventProof | null> {
  const head = await newestCheckpoint(SIGNED);
  if (!head) return null;
  const named = await newestEventAbout({ chain: SIGNED, entityId: entityOf(event.chain), before: head.sequence + 1 });
  const treeSize = Number(named?.metadata["sequence"] ?? 0);
  if (!named || treeSize < event.sequence) return null;
  const [inclusion, inLog] = await Promise.all([inclusionOf(event, treeSize), inclusionOf(named, head.sequence)]);
  return { ...inclusion, log: inLog, head: head.signature };
}

function signOnce(chain: string): Promise<void> {
  const running = signing();
  const known = running.get(chain);
  if (known || running.size >= SIGNING_MAX) return known ?? Promise.resolve();
  const work = signNow(chain)
    .catch((error: unknown) =>
      log().error({ chain, error }, "A chain could not be signed for a proof; the worker signs it later"),
    )
    .finally(() => running.delete(chain));
  running.set(chain, work);
  return work;
}

/** Proves an event. Signs the chain's head now if no signed head includes the event. Null if that is not possible in time. */
export async function proveEvent(event: ChainedEvent): Promise<EventProof | null> {
  const proof = await signedProof(event);
  if (proof) return proof;
  await atMost(signOnce(event.chain), WAIT_MS, null);
  return signedProof(event);
}
