import type { Hex } from "viem";
import { audit, clock } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once, replay } from "#lib/command/idempotency.ts";
import type { Handler, Input, Output } from "#lib/http/operation.ts";
import { notFound, Problem } from "#lib/problem.ts";
import * as contract from "#lib/sellers/pay-to/contract.ts";
import { notVerified, requireNamed } from "#lib/sellers/pay-to/domain.ts";
import { requireSignedChallenge } from "#lib/sellers/pay-to/signature.ts";
import {
  ANY_CHAIN,
  findChallenge,
  lockPayTo,
  provenElsewhere,
  saveProof,
  useChallenge,
  type PayToProof,
} from "#lib/sellers/pay-to-store.ts";
import { stoppedAtAddress } from "#lib/sellers/stop-store.ts";
import { stoppedByPlatform } from "#lib/sellers/stops.ts";
import { findOwnSeller } from "#lib/sellers/store.ts";
import { toWire } from "#lib/time.ts";
import type { Environment } from "#lib/vocabulary.ts";

type Caller = { readonly organizationId: string; readonly environment: Environment; readonly subjectId: string };
type Body = Input<typeof contract.provePayTo>["body"];

type Proven = Pick<PayToProof, "address" | "chain" | "method" | "sellerId"> & {
  readonly metadata: Readonly<Record<string, string>>;
  /** Checks again what may have changed, or uses up the challenge. @throws Problem conflict */
  readonly again: (tx: Tx) => Promise<void>;
};

/** The network calls come before the transaction, so that no transaction stays open during a call. */
export const provePayTo: Handler<typeof contract.provePayTo> = async ({ body }, { caller, idempotency }) => {
  const earlier = idempotency && (await replay(idempotency));
  if (earlier) return earlier;
  const proven = body.method === "signature" ? await bySignature(body, caller) : await byDomain(body, caller);
  return once(contract.provePayTo, idempotency, (tx) => save(tx, proven, caller));
};

async function save(tx: Tx, proven: Proven, { organizationId, subjectId }: Caller): Promise<Output<typeof contract.provePayTo>> {
  const { address, chain, method, sellerId, metadata, again } = proven;
  // Behind the gate, no emergency stop runs at the same time, so neither misses what the other wrote.
  await enterGate(tx);
  await lockPayTo(tx, address);
  if (await stoppedAtAddress(tx, organizationId, address)) throw stoppedByPlatform();
  await again(tx);
  const proof = await saveProof(tx, { organizationId, address, chain, method, sellerId, provenBy: subjectId });
  const event = { type: "payTo.proven", actorId: subjectId, organizationId, entityType: "payTo", entityId: address };
  audit(tx, { ...event, metadata: { method, sellerId, ...(chain !== ANY_CHAIN && { chain }), ...metadata } }, await clock(tx));
  return {
    payTo: address,
    ...(chain !== ANY_CHAIN && { chain }),
    method,
    sellerId: proof.sellerId,
    provenAt: toWire(proof.createdAt),
  };
}

const used = (): Problem =>
  new Problem("conflict", {
    detail: "This text was used before, or has expired. Ask for a new one with challengePayTo.",
  });

async function bySignature({ challengeId, signature }: Extract<Body, { method: "signature" }>, caller: Caller): Promise<Proven> {
  const challenge = await findChallenge(database(), caller, challengeId);
  if (!challenge) throw notFound("challenge");
  if (challenge.usedAt !== null || challenge.expiresAt <= (await clock(database()))) throw used();
  const chain = await requireSignedChallenge(challenge, signature as Hex);
  return {
    address: challenge.address,
    chain,
    method: "signature",
    sellerId: challenge.sellerId,
    metadata: { challengeId },
    async again(tx) {
      if (!(await useChallenge(tx, challengeId))) throw used();
    },
  };
}

const takenElsewhere = (): Problem =>
  new Problem("conflict", {
    detail:
      "Another organization has proven this address. Sign for it: a signature counts for every organization that can give one.",
  });

async function byDomain({ sellerId, resourceId, path }: Extract<Body, { method: "domain" }>, caller: Caller): Promise<Proven> {
  const { organizationId, environment } = caller;
  const named = await requireNamed({ organizationId, environment, sellerId, resourceId }, path);
  return {
    ...named,
    method: "domain",
    sellerId,
    metadata: { resourceId },
    async again(tx) {
      const seller = await findOwnSeller(tx, environment, organizationId, sellerId);
      if (!seller?.verified) throw notVerified();
      if (seller.stoppedAt !== null) throw stoppedByPlatform();
      if (await provenElsewhere(tx, organizationId, named.address)) throw takenElsewhere();
    },
  };
}
