import { audit, clock, transact } from "#lib/audit/transact.ts";
import { markAudited } from "#lib/identity/user-store.ts";

/** An authenticated request writes the event, because better-auth creates users in its own transactions. */
export async function auditNewUser(userId: string): Promise<void> {
  await transact(async (tx) => {
    if (!(await markAudited(tx, userId))) return;
    audit(
      tx,
      {
        type: "user.created",
        actorId: userId,
        organizationId: null,
        subjectId: userId,
        entityType: "user",
        entityId: userId,
        metadata: {},
      },
      await clock(tx),
    );
  });
}
