import { audit, clock } from "#lib/audit/transact.ts";
import { env } from "#lib/env.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { tooSmallToSell } from "#lib/onchain/broadcast-caps.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { checkResource, type Installation } from "#lib/sellers/resources/check-resource.ts";
import * as contract from "#lib/sellers/contract.ts";
import { presentResource } from "#lib/sellers/present.ts";
import { findOwnSeller } from "#lib/sellers/store.ts";
import { saveResource } from "#lib/sellers/resource-store.ts";

const installation = (): Installation => ({
  chains: env().CHAINS.map(({ chain }) => chain),
  assetOf,
  tooSmall: tooSmallToSell,
  facilitators: (env().FACILITATORS ?? []).map(({ url }) => url),
});

export const upsertPaidResource: Handler<typeof contract.upsertPaidResource> = ({ id, body }, { caller, idempotency }) =>
  once(contract.upsertPaidResource, idempotency, async (tx) => {
    const { organizationId, environment, subjectId } = caller;
    const checked = checkResource(body, id, installation());
    if (!checked.ok) throw new Problem("invalid_request", { detail: "The resource cannot be saved so.", errors: checked.errors });
    const seller = await findOwnSeller(tx, environment, organizationId, body.sellerId);
    if (!seller) throw notFound("seller");
    const now = await clock(tx);
    const resource = await saveResource(tx, {
      sellerId: seller.sellerId,
      resourceId: id,
      organizationId,
      method: body.method,
      pathTemplate: body.pathTemplate,
      description: body.description ?? null,
      ...checked.terms,
      configurationSource: body.configurationSource ?? (caller.kind === "key" ? "api" : "dashboard"),
      acceptedPaymentChallengeTypes: [...new Set(body.acceptedPaymentChallengeTypes)],
      minimumAssuranceLevel: body.minimumAssuranceLevel ?? "softwareApproved",
      payTo: checked.terms.paymentConfig?.payTo.toLowerCase() ?? null,
      createdAt: now,
      updatedAt: now,
    });
    const presented = presentResource(resource);
    const event = { type: "resource.upserted", actorId: subjectId, organizationId, entityType: "resource", entityId: id };
    audit(tx, { ...event, metadata: presented }, now);
    return presented;
  });
