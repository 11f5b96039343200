import { audit, clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { once, replay } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";
import * as contract from "#lib/sellers/contract.ts";
import { isLocalDomain, requireProof } from "#lib/sellers/domain-proof.ts";
import { presentSeller } from "#lib/sellers/present.ts";
import { stoppedByPlatform } from "#lib/sellers/stops.ts";
import { stopOverDomain } from "#lib/sellers/stop-store.ts";
import { findOwnSeller, lockDomain, setVerified, verifiedElsewhere } from "#lib/sellers/store.ts";
import { countCallOf } from "#lib/sellers/unproven-domain-calls.ts";

export const verifySellerDomain: Handler<typeof contract.verifySellerDomain> = async ({ id, body }, { caller, idempotency }) => {
  const earlier = idempotency && (await replay(idempotency));
  if (earlier) return earlier;
  const { organizationId, environment, subjectId } = caller;
  const { method } = body;
  const claimed = await findOwnSeller(database(), environment, organizationId, id);
  if (!claimed) throw notFound("seller");
  if (method === "dns" && isLocalDomain(claimed.domain))
    throw invalidField("/method", "A host of this machine has no DNS records; use wellKnown.");
  // The network call comes before the transaction, so that no transaction stays open during the call.
  if (!claimed.verified) {
    await countCallOf(claimed);
    await requireProof(method, claimed);
  }
  return once(contract.verifySellerDomain, idempotency, async (tx) => {
    await lockDomain(tx, environment, claimed.domain);
    const seller = await findOwnSeller(tx, environment, organizationId, id);
    if (!seller) throw notFound("seller");
    if (seller.verified) return presentSeller(seller);
    if (seller.stoppedAt || (await stopOverDomain(tx, seller.domain)) === "proven") throw stoppedByPlatform();
    if (await verifiedElsewhere(tx, seller))
      throw new Problem("conflict", { detail: "Another organization has verified this domain for its own seller." });
    const verified = await setVerified(tx, seller, true);
    if (!verified) throw stoppedByPlatform();
    const event = { type: "seller.verified", actorId: subjectId, organizationId, entityType: "seller", entityId: id };
    audit(tx, { ...event, metadata: { domain: seller.domain, method } }, await clock(tx));
    return presentSeller(verified);
  });
};
