import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { codeRefusal } from "#lib/identity/oauth/metadata/client-metadata.ts";
import { countClients, insertClient } from "#lib/identity/oauth/client-store.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { presentClient } from "#lib/identity/oauth/present-client.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { newId } from "#lib/ids.ts";
import { invalidField, Problem } from "#lib/problem.ts";

const CLIENTS_MAX = 50;

export const createAgentClient: Handler<typeof contract.createAgentClient> = ({ body }, { caller, idempotency }) => {
  for (const [at, uri] of body.redirectUris.entries()) {
    const refusal = codeRefusal(uri);
    if (refusal !== null) throw invalidField(`/redirectUris/${at}`, refusal);
  }
  return once(contract.createAgentClient, idempotency, async (tx) => {
    const { userId, organizationId } = caller;
    // This check also locks the organization, so that no other request adds a client between the count and the insert.
    await requireStillHeld(tx, caller, "serviceAccounts:manage");
    await requireProvedToGive(tx, caller);
    if ((await countClients(tx, organizationId)) >= CLIENTS_MAX) {
      throw new Problem("conflict", {
        detail: `An organization has at most ${CLIENTS_MAX} clients. Remove one that is not used.`,
      });
    }
    const now = await clock(tx);
    const redirectUris = [...new Set(body.redirectUris)];
    const client = {
      clientId: newId("agentClient"),
      organizationId,
      name: body.name,
      redirectUris,
      createdBy: userId,
      createdAt: now,
    };
    await insertClient(tx, client);
    const event = { actorId: userId, organizationId, entityType: "agentClient", entityId: client.clientId };
    audit(tx, { ...event, type: "agentClient.created", metadata: { name: client.name, redirectUris } }, now);
    return presentClient(client);
  });
};
