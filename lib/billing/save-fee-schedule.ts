import { audit, clock } from "#lib/audit/transact.ts";
import type { SaveFeeSchedule } from "#lib/billing/billing-schema.ts";
import { checkSchedule } from "#lib/billing/check-schedule.ts";
import * as contract from "#lib/billing/contract.ts";
import { zeroSchedule } from "#lib/billing/fees.ts";
import { presentSchedule } from "#lib/billing/present.ts";
import { scheduleHash } from "#lib/billing/schedule-facts.ts";
import { knownOrganizations, lockFeeSchedule, saveSchedule } from "#lib/billing/store.ts";
import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { reasonIn } from "#lib/billing/reason-in.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { newId } from "#lib/ids.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";

function readAmounts(body: SaveFeeSchedule, effectiveFrom: Date) {
  const chains = env().CHAINS;
  const known = chains.flatMap(({ chain, assets }) =>
    assets.filter(({ asset }) => asset === body.asset).map(({ tokenDecimals }) => ({ chain, decimals: tokenDecimals })),
  );
  const names = chains.map(({ chain }) => chain);
  const checked = checkSchedule(body, effectiveFrom, names, known);
  if (!checked.ok)
    throw new Problem("invalid_request", { detail: "The schedule has fields that cannot be saved.", errors: checked.errors });
  return checked.amounts;
}

async function requireOrganizations(tx: Tx, { buyerOrganizationId, sellerOrganizationId }: SaveFeeSchedule): Promise<void> {
  const named = [buyerOrganizationId, sellerOrganizationId].filter((id) => id !== undefined);
  if (named.length === 0) return;
  const known = await knownOrganizations(tx, named);
  if (!named.every((id) => known.has(id))) throw notFound("organization");
}

async function findOld(tx: Tx, feeScheduleId: string | undefined) {
  if (feeScheduleId === undefined) return null;
  if (feeScheduleId === zeroSchedule.feeScheduleId) {
    throw invalidField("/feeScheduleId", "The built-in schedule stays as it is; a schedule for everyone takes its place.");
  }
  const old = await lockFeeSchedule(tx, feeScheduleId);
  if (!old) throw notFound("fee schedule");
  return old;
}

export const saveFeeSchedule: Handler<typeof contract.saveFeeSchedule> = ({ body }, { caller, idempotency }) =>
  once(contract.saveFeeSchedule, idempotency, async (tx) => {
    await enterGate(tx);
    await requireRight(tx, caller, "platform.feeSchedules.manage", await clock(tx));
    const old = await findOld(tx, body.feeScheduleId);
    const now = await clock(tx);
    const effectiveFrom = body.effectiveFrom === undefined ? (old?.effectiveFrom ?? now) : new Date(body.effectiveFrom);
    const amounts = readAmounts(body, effectiveFrom);
    await requireOrganizations(tx, body);
    const saved = await saveSchedule(tx, {
      feeScheduleId: old?.feeScheduleId ?? newId("feeSchedule"),
      name: body.name,
      status: body.status,
      buyerOrganizationId: body.buyerOrganizationId ?? null,
      sellerOrganizationId: body.sellerOrganizationId ?? null,
      planTier: body.planTier ?? null,
      settlementMode: body.settlementMode ?? null,
      chain: body.chain ?? null,
      asset: body.asset ?? null,
      feePayer: body.feePayer,
      feeRecipient: body.feeRecipient,
      percentageBps: body.percentageBps,
      flatAmount: amounts.flatAmount,
      minimumFeeAmount: amounts.minimumFeeAmount ?? null,
      maximumFeeAmount: amounts.maximumFeeAmount ?? null,
      includedMonthlyVolume: body.includedMonthlyVolume,
      effectiveFrom,
      effectiveUntil: body.effectiveUntil === undefined ? null : new Date(body.effectiveUntil),
      metadata: body.metadata ?? null,
      createdAt: now,
      updatedAt: now,
    });
    const event = {
      type: old ? "feeSchedule.updated" : "feeSchedule.created",
      actorId: caller.subjectId,
      organizationId: null,
      entityType: "feeSchedule",
      entityId: saved.feeScheduleId,
    };
    const hashes = { ...(old && { replacedHash: scheduleHash(old) }), feeScheduleHash: scheduleHash(saved) };
    audit(tx, { ...event, metadata: { name: saved.name, status: saved.status, ...hashes, ...reasonIn(body.metadata) } }, now);
    return presentSchedule(saved);
  });
