import type { Hex } from "viem";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainFailure } from "#lib/chains/client.ts";
import { confirmedBlock, isOver, nonceUsedAt } from "#lib/onchain/evidence.ts";
import { paymentUsedAt } from "#lib/onchain/registry/payment-module.ts";
import { dueNonceSlots, freeNonceSlot, nonceSlotOf, useNonceSlot, type DueSlot } from "#lib/onchain/registry/nonce-slot-store.ts";
import { PATHS } from "#lib/onchain/registry/registration-terms.ts";
import { perProcess } from "#lib/process.ts";
import { hasLiveExecution } from "#lib/holds/execution-store.ts";
import { lockMandate } from "#lib/holds/hold-store.ts";

const BATCH = 64;
const MARGIN_MS = 2_000;

/** The next check skips this many of the oldest due slots, because earlier checks have read them. */
const place = () => perProcess("settlement/free-nonce-slots", () => ({ offset: 0 }));

/** Frees slots whose payment can never be made: the chain shows that the payment has expired and that its nonce is unused. */
export async function freeNonceSlots(): Promise<number> {
  const { offset } = place();
  const due = await dueNonceSlots(database(), MARGIN_MS, { offset, limit: BATCH });
  const ends = { free: 0, used: 0, held: 0 };
  for (const one of due) ends[await tryToEnd(one)] += 1;
  place().offset = due.length < BATCH ? 0 : offset + ends.held;
  return ends.free;
}

type SlotStatus = "free" | "used" | "held";

async function tryToEnd(due: DueSlot): Promise<SlotStatus> {
  try {
    return await endSlot(due);
  } catch (error) {
    log().warn({ slotId: due.slot.slotId, reason: chainFailure(error) }, "A slot could not be looked up; it is asked for again");
    return "held";
  }
}

/** The token knows the used nonces of signed transfers; the registry knows the payments of the payment module. */
function isUsed({ slot, registration }: DueSlot, depth: bigint): Promise<boolean> {
  const { chain, enforcementPath } = registration;
  const [registry, account, token] = [registration.registry as Hex, registration.account as Hex, registration.token as Hex];
  const [onChainId, nonce] = [registration.onChainId as Hex, slot.nonce as Hex];
  return enforcementPath === PATHS.proofs
    ? nonceUsedAt({ chain, tokenAddress: token, payer: account, nonce }, depth)
    : paymentUsedAt({ chain, registry, account, onChainId, paymentId: nonce }, depth);
}

async function endSlot({ slot, registration }: DueSlot): Promise<SlotStatus> {
  const { chain, mandateId } = registration;
  const depth = await confirmedBlock(chain);
  const over = await isOver(chain, depth, slot.validBefore, await clock(database()));
  const used = await isUsed({ slot, registration }, depth);
  if (!over && !used) return "held";
  return database().transaction(async (tx) => {
    await lockMandate(tx, mandateId);
    const now = await nonceSlotOf(tx, slot.authorizationId);
    // Since the slot was read, another execution of the authorization may have taken a new slot or extended this one.
    const same = now?.slotId === slot.slotId && now.validBefore.getTime() === slot.validBefore.getTime();
    if (!same || (await hasLiveExecution(tx, slot.authorizationId))) return "held";
    await (used ? useNonceSlot(tx, slot.slotId) : freeNonceSlot(tx, slot.slotId));
    return used ? "used" : "free";
  });
}
