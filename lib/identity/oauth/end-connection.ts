import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { endOneConnection, findConnection } from "#lib/identity/oauth/connection-store.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { presentConnection } from "#lib/identity/oauth/present-connection.ts";
import { notFound } from "#lib/problem.ts";

export const endConnection: Handler<typeof contract.endConnection> = (
  { connectionId },
  { caller: { userId, organizationId }, idempotency },
) =>
  once(contract.endConnection, idempotency, async (tx) => {
    await closeGate(tx, organizationId);
    const connection = await findConnection(tx, organizationId, connectionId);
    const now = await clock(tx);
    if (!connection || !(await endOneConnection(tx, connectionId, now))) throw notFound("connection");
    const { clientId, serviceAccountId } = connection;
    const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: serviceAccountId };
    audit(tx, { ...event, type: "serviceAccount.disconnected", metadata: { clientId, keyId: connectionId } }, now);
    return presentConnection(connection);
  });
