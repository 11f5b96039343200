import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { presentSeller } from "#lib/sellers/present.ts";
import { stopOverDomain } from "#lib/sellers/stop-store.ts";
import { findSeller, lockDomain, setVerified, verifiedElsewhere } from "#lib/sellers/store.ts";
import { stoppedByPlatform } from "#lib/sellers/stops.ts";
import * as contract from "#lib/sellers/contract.ts";

export const verifySeller: Handler<typeof contract.verifySeller> = ({ id, body }, { caller, idempotency }) =>
  once(contract.verifySeller, idempotency, async (tx) => {
    await closeGate(tx, caller.userId);
    const now = await clock(tx);
    await requireRight(tx, caller, "platform.sellers.verify", now);
    const claimed = await findSeller(tx, caller.environment, id);
    if (!claimed) throw notFound("seller");
    await lockDomain(tx, caller.environment, claimed.domain);
    const seller = (await findSeller(tx, caller.environment, id)) ?? claimed;
    if (seller.verified === body.verified) return presentSeller(seller);
    if (seller.stoppedAt || (body.verified && (await stopOverDomain(tx, seller.domain)) === "proven")) throw stoppedByPlatform();
    if (body.verified && (await verifiedElsewhere(tx, seller)))
      throw new Problem("conflict", { detail: "Another organization's seller is verified for this domain." });
    const saved = await setVerified(tx, seller, body.verified);
    if (!saved) throw stoppedByPlatform();
    const { organizationId, domain } = seller;
    const event = { actorId: caller.userId, organizationId, entityType: "seller", entityId: id };
    const type = body.verified ? "seller.verified" : "seller.unverified";
    audit(tx, { ...event, type, metadata: { domain, method: "platform", reason: body.reason } }, now);
    return presentSeller(saved);
  });
