import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { deleteClient } from "#lib/identity/oauth/client-store.ts";
import { endConnectionsOf } from "#lib/identity/oauth/connection-store.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { presentClient } from "#lib/identity/oauth/present-client.ts";
import { notFound } from "#lib/problem.ts";

export const removeAgentClient: Handler<typeof contract.removeAgentClient> = (
  { clientId },
  { caller: { userId, organizationId }, idempotency },
) =>
  once(contract.removeAgentClient, idempotency, async (tx) => {
    await closeGate(tx, organizationId);
    const client = await deleteClient(tx, organizationId, clientId);
    if (!client) throw notFound("client");
    const now = await clock(tx);
    const endedConnections = await endConnectionsOf(tx, clientId, now);
    const event = { actorId: userId, organizationId, entityType: "agentClient", entityId: clientId };
    audit(tx, { ...event, type: "agentClient.removed", metadata: { name: client.name, endedConnections } }, now);
    return presentClient(client);
  });
