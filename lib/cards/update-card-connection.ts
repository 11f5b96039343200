import { audit, clock } from "#lib/audit/transact.ts";
import { cardsOf, changeConnection, lockOwnConnection } from "#lib/cards/connection-store.ts";
import * as contract from "#lib/cards/contract.ts";
import { presentCardConnection } from "#lib/cards/present-card-connection.ts";
import { sealSecret } from "#lib/cards/secrets.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { notFound } from "#lib/problem.ts";

export const updateCardConnection: Handler<typeof contract.updateCardConnection> = (
  { connectionId, body },
  { caller, idempotency },
) =>
  once(contract.updateCardConnection, idempotency, async (tx) => {
    const { userId, organizationId } = caller;
    // After this, no decision that began before uses the card.
    await closeGate(tx, organizationId);
    await requireStillHeld(tx, caller, "mandates:create");
    const row = await lockOwnConnection(tx, caller, connectionId);
    if (!row) throw notFound("connection");
    if ("webhookSecret" in body) await requireProvedToGive(tx, caller);
    const now = await clock(tx);
    const [newest = ""] = row.secrets;
    const secrets =
      "webhookSecret" in body
        ? [sealSecret(body.webhookSecret, connectionId), newest]
        : "dropPrevious" in body
          ? [newest]
          : row.secrets;
    const endedAt = "ended" in body ? now : null;
    await changeConnection(tx, connectionId, { secrets, endedAt });
    const type = endedAt ? "cardConnection.ended" : "cardConnection.updated";
    const event = { actorId: userId, organizationId, entityType: "cardConnection", entityId: connectionId };
    audit(tx, { ...event, type, metadata: { secrets: secrets.length } }, now);
    return presentCardConnection({ ...row, secrets, endedAt }, await cardsOf(tx, caller));
  });
