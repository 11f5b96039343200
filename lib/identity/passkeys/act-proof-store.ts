import { and, asc, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import type { Prover } from "#lib/identity/passkeys/fresh-proof.ts";
import type { Act } from "#lib/identity/passkeys/passkey-challenge.ts";
import { actProofs, passkey } from "#lib/identity/tables.ts";

export async function insertActProof(tx: Tx, row: typeof actProofs.$inferInsert): Promise<void> {
  await tx.insert(actProofs).values(row);
}

/** Uses up a proof of exactly this act that the session gave; false if there is none. */
export async function takeActProof(
  tx: Tx,
  { sessionId }: Pick<Prover, "sessionId">,
  { subjectId, terms }: Act,
): Promise<boolean> {
  const [proof] = await tx
    .select({ proofId: actProofs.proofId })
    .from(actProofs)
    .leftJoin(passkey, eq(passkey.id, actProofs.passkeyId))
    .where(
      and(
        eq(actProofs.sessionId, sessionId),
        eq(actProofs.subjectId, subjectId),
        eq(actProofs.terms, terms),
        isNull(actProofs.usedAt),
        gt(actProofs.expiresAt, sql`clock_timestamp()`),
        or(isNull(actProofs.passkeyId), eq(passkey.id, actProofs.passkeyId)),
      ),
    )
    .orderBy(asc(actProofs.proofId))
    .limit(1)
    .for("no key update", { of: actProofs });
  if (!proof) return false;
  await tx
    .update(actProofs)
    .set({ usedAt: sql`statement_timestamp()` })
    .where(eq(actProofs.proofId, proof.proofId));
  return true;
}
