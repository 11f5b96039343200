import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import * as contract from "#lib/sellers/contract.ts";
import { onlyOne } from "#lib/sellers/resources/only-resource.ts";
import { presentResource } from "#lib/sellers/present.ts";
import { findOwnResources, markArchived } from "#lib/sellers/resource-store.ts";

export const archiveResource: Handler<typeof contract.archiveResource> = ({ id, body }, { caller, idempotency }) =>
  once(contract.archiveResource, idempotency, async (tx) => {
    const { organizationId, subjectId } = caller;
    await closeGate(tx, organizationId);
    const found = await findOwnResources(tx, { organizationId, ...body, archivedToo: true }, id);
    const archived = await markArchived(tx, onlyOne(found, "/sellerId"));
    const event = { type: "resource.archived", actorId: subjectId, organizationId, entityType: "resource", entityId: id };
    audit(tx, { ...event, metadata: { sellerId: archived.sellerId } }, await clock(tx));
    return presentResource(archived);
  });
