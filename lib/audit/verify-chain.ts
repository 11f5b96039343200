import { genesis } from "#lib/audit/chain.ts";
import { isSigned, type Checkpoint } from "#lib/audit/heads/checkpoint.ts";
import { newestCheckpoint } from "#lib/audit/checkpoint-store.ts";
import type { AuditVerification } from "#lib/audit-event.ts";
import { readEnds, readEvents } from "#lib/audit/read-store.ts";
import { signedOf, type SignedHeads } from "#lib/audit/heads/signed-heads.ts";
import { checkEnd, followChain, type Bad } from "#lib/audit/heads/follow-chain.ts";
import { toWire } from "#lib/time.ts";

const BATCH = 500;

const presentCheckpoint = ({ sequence, hash, keyId, signature, createdAt }: Checkpoint) => ({
  sequence,
  hash,
  keyId,
  signature,
  signedAt: toWire(createdAt),
});

function checkSigned(
  checkpoint: Checkpoint | null,
  { heads, bad }: Pick<SignedHeads, "heads" | "bad">,
  last: number,
): Bad | null {
  if (checkpoint && !isSigned(checkpoint))
    return { sequence: checkpoint.sequence, detail: "The newest checkpoint is not signed by this installation's keys." };
  if (bad) return bad;
  if (heads.some(({ sequence }) => sequence > last))
    return { sequence: last + 1, detail: "The chain ends before its newest signed checkpoint." };
  return null;
}

/** Events that are appended during the verification are not checked. `databaseAlone` is that of signedOf. */
export async function verifyChain(chain: string, { databaseAlone = false } = {}): Promise<AuditVerification> {
  const checkpoint = await newestCheckpoint(chain);
  const { heads, bad } = await signedOf(chain, { databaseAlone });
  const known = checkpoint ? [...heads, checkpoint] : heads;
  const ends = await readEnds(chain);
  const signed = checkpoint && { checkpoint: presentCheckpoint(checkpoint) };
  let head = genesis;
  const answer = (firstBad: Bad | null): AuditVerification => ({
    valid: firstBad === null,
    count: head.sequence,
    head: head.hash,
    ...(firstBad && { firstBad }),
    ...signed,
  });
  const last = ends?.sequence ?? 0;
  while (head.sequence < last) {
    const events = await readEvents(chain, head.sequence, last, BATCH);
    if (events.length === 0) break;
    const followed = followChain(head, events, known);
    head = followed.head;
    if (followed.bad) return answer(followed.bad);
  }
  const end = ends && checkEnd(head, ends);
  return answer(end ?? checkSigned(checkpoint, { heads: known, bad }, last));
}
