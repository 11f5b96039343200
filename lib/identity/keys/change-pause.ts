import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/identity/keys/contract.ts";
import { presentServiceAccount } from "#lib/identity/keys/present-service-account.ts";
import { lockServiceAccount, setPaused } from "#lib/identity/keys/service-account-store.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { notFound, Problem } from "#lib/problem.ts";

type Pausing = typeof contract.pauseServiceAccount | typeof contract.resumeServiceAccount;

/** closeGate waits for the transactions of running payments, so that none that read the old state commits after the answer. */
export const changePause =
  (operation: Pausing, pause: boolean): Handler<Pausing> =>
  ({ id }, { caller, idempotency }) =>
    once(operation, idempotency, async (tx) => {
      const { userId, organizationId } = caller;
      await closeGate(tx, organizationId);
      if (!pause) await requireStillHeld(tx, caller, "checkouts:approve");
      const account = await lockServiceAccount(tx, organizationId, id);
      if (!account) throw notFound("service account");
      if (account.revoked)
        throw new Problem("conflict", { detail: "This service account was revoked. Its keys are refused anyway." });
      if ((account.pausedAt !== null) === pause) return presentServiceAccount(account);
      if (!pause) await requireProvedToGive(tx, caller);
      const now = await clock(tx);
      const pausedAt = pause ? now : null;
      await setPaused(tx, id, pausedAt);
      const type = pause ? "serviceAccount.paused" : "serviceAccount.resumed";
      audit(tx, { type, actorId: userId, organizationId, entityType: "serviceAccount", entityId: id, metadata: {} }, now);
      return presentServiceAccount({ ...account, pausedAt });
    });
