import { audit, clock } from "#lib/audit/transact.ts";
import { countConnections, insertCardConnection } from "#lib/cards/connection-store.ts";
import * as contract from "#lib/cards/contract.ts";
import { presentCardConnection } from "#lib/cards/present-card-connection.ts";
import { sealSecret } from "#lib/cards/secrets.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { newId } from "#lib/ids.ts";
import { Problem } from "#lib/problem.ts";

const CONNECTIONS_MAX = 10;

/** Whoever knows the secret can say which card asks, so connecting counts as giving a right. */
export const connectCards: Handler<typeof contract.connectCards> = ({ body }, { caller, idempotency }) =>
  once(contract.connectCards, idempotency, async (tx) => {
    const { userId, organizationId, environment } = caller;
    await requireStillHeld(tx, caller, "mandates:create");
    await requireProvedToGive(tx, caller);
    if ((await countConnections(tx, caller)) >= CONNECTIONS_MAX)
      throw new Problem("conflict", { detail: `The organization has ${CONNECTIONS_MAX} connections, the most there can be.` });
    const now = await clock(tx);
    const connectionId = newId("cardConnection");
    const secrets = [sealSecret(body.webhookSecret, connectionId)];
    const row = {
      connectionId,
      organizationId,
      environment,
      name: body.name,
      secrets,
      createdBy: userId,
      createdAt: now,
      endedAt: null,
    };
    await insertCardConnection(tx, row);
    const event = { actorId: userId, organizationId, entityType: "cardConnection", entityId: connectionId };
    audit(tx, { ...event, type: "cardConnection.created", metadata: { name: body.name } }, now);
    return presentCardConnection(row, []);
  });
