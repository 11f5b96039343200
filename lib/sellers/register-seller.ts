import { audit, clock } from "#lib/audit/transact.ts";
import { outboundLoopback } from "#lib/env.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { invalidField } from "#lib/problem.ts";
import * as contract from "#lib/sellers/contract.ts";
import { canonicalDomain } from "#lib/sellers/domain.ts";
import { presentSeller } from "#lib/sellers/present.ts";
import { stoppedByPlatform } from "#lib/sellers/stops.ts";
import { stopOverDomain, stoppedItself } from "#lib/sellers/stop-store.ts";
import { insertSeller } from "#lib/sellers/store.ts";

export const registerSeller: Handler<typeof contract.registerSeller> = ({ body }, { caller, idempotency }) =>
  once(contract.registerSeller, idempotency, async (tx) => {
    const canonical = canonicalDomain(body.domain, outboundLoopback());
    if (!canonical.ok) throw invalidField("/domain", canonical.detail);
    const { organizationId, environment, subjectId } = caller;
    const { domain } = canonical;
    if ((await stopOverDomain(tx, domain)) === "proven" || (await stoppedItself(tx, organizationId, domain)))
      throw stoppedByPlatform();
    const seller = await insertSeller(tx, {
      sellerId: newId("seller"),
      organizationId,
      environment,
      name: body.name,
      domain,
      minimumAssuranceLevel: body.minimumAssuranceLevel ?? "softwareApproved",
    });
    const { sellerId, name } = seller;
    const event = { type: "seller.created", actorId: subjectId, organizationId, entityType: "seller", entityId: sellerId };
    audit(tx, { ...event, metadata: { name, domain } }, await clock(tx));
    return presentSeller(seller);
  });
