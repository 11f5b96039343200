import { and, asc, eq, inArray, lt, ne, or, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { mandateRegistrations as registrations, relayedTransactions as relays } from "#lib/onchain/tables.ts";

export async function mandateStatus(tx: Tx, mandateId: string): Promise<string | null> {
  const [row] = await tx.select({ status: mandates.status }).from(mandates).where(eq(mandates.mandateId, mandateId));
  return row?.status ?? null;
}

/** Locks registrations that have not failed and whose revocation is not requested; `beforeVersion` is exclusive. */
export const lockUnrevoked = (tx: Tx, mandateId: string, beforeVersion?: number) =>
  tx
    .select()
    .from(registrations)
    .where(
      and(
        eq(registrations.mandateId, mandateId),
        beforeVersion === undefined ? undefined : lt(registrations.version, beforeVersion),
        ne(registrations.status, "failed"),
        eq(registrations.revocation, "none"),
      ),
    )
    .orderBy(asc(registrations.registrationId))
    .for("update");

export async function requestRevocation(tx: Tx, registrationId: string, revokeRelayId: string): Promise<void> {
  await tx
    .update(registrations)
    .set({ revocation: "requested", revokeRelayId })
    .where(and(eq(registrations.registrationId, registrationId), eq(registrations.revocation, "none")));
}

/** Registrations whose stored revocation state differs from the status of the guardian's transaction that revokes them. */
export const movedRevocations = (limit: number) =>
  database()
    .select({
      registrationId: registrations.registrationId,
      organizationId: registrations.organizationId,
      mandateId: registrations.mandateId,
      chain: registrations.chain,
      account: registrations.account,
      onChainId: registrations.onChainId,
      revocation: registrations.revocation,
      status: relays.status,
      hash: relays.hash,
    })
    .from(registrations)
    .innerJoin(relays, eq(relays.relayId, registrations.revokeRelayId))
    .where(
      or(
        and(eq(registrations.revocation, "requested"), inArray(relays.status, ["sent", "mined"])),
        and(eq(registrations.revocation, "sent"), inArray(relays.status, ["queued", "mined"])),
      ),
    )
    .orderBy(asc(registrations.registrationId))
    .limit(limit);

/** Returns false if the state is no longer `from`. */
export async function moveRevocation(tx: Tx, registrationId: string, from: string, to: string): Promise<boolean> {
  const rows = await tx
    .update(registrations)
    .set({ revocation: to, ...(to === "revoked" && { revokedAt: sql`statement_timestamp()` }) })
    .where(and(eq(registrations.registrationId, registrationId), eq(registrations.revocation, from)))
    .returning({ registrationId: registrations.registrationId });
  return rows.length === 1;
}
