import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { lockMembers } from "#lib/identity/lock-members.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { setStepUpLimits, stepUpLimitsOf, type OwnStepUpLimits } from "#lib/identity/members/organization-store.ts";
import { actOf, requireActProof } from "#lib/identity/passkeys/act-proof.ts";
import { defaultStepUpLimits } from "#lib/identity/step-up-limits.ts";
import { parseAmount } from "#lib/money.ts";
import { Problem } from "#lib/problem.ts";

const DECIMALS = 18;

const ASKS = "Confirm that it is you first: with higher amounts, fewer approvals ask who approves.";

const limits = ["above", "aboveUnverified"] as const;

/** Whether one of the two amounts rises. */
const isLooser = (next: OwnStepUpLimits, current: OwnStepUpLimits): boolean =>
  limits.some((limit) => {
    const [after, before] = [next, current].map((own) => parseAmount(own[limit] ?? defaultStepUpLimits[limit], DECIMALS));
    return after! > before!;
  });

const names = { above: "stepUpAbove", aboveUnverified: "stepUpAboveUnverified" } as const;

const changesOf = (from: OwnStepUpLimits, to: OwnStepUpLimits) =>
  Object.fromEntries(
    limits.flatMap((limit) => (from[limit] === to[limit] ? [] : [[names[limit], { from: from[limit], to: to[limit] }]])),
  );

/** closeGate waits for running approvals, so that none still uses the old amounts after the reply. */
export const setStepUpThreshold: Handler<typeof contract.setStepUpThreshold> = async (
  { organizationId, body },
  { caller, idempotency },
) =>
  once(contract.setStepUpThreshold, idempotency, async (tx) => {
    await closeGate(tx, caller.organizationId);
    const { role } = await lockMembers(tx, organizationId, caller);
    if (!capabilitiesOfRole(role).has("members:manage"))
      throw new Problem("forbidden", { detail: "Your role was changed meanwhile. An owner or admin can set the amount." });
    const current = await stepUpLimitsOf(tx, organizationId);
    const next = { above: body.above ?? null, aboveUnverified: body.aboveUnverified ?? null };
    const metadata = changesOf(current, next);
    if (Object.keys(metadata).length > 0) {
      // A sign-in is not enough: who raises the amounts may then approve up to them without any proof.
      if (isLooser(next, current)) await requireActProof(tx, caller, actOf(organizationId, next), ASKS);
      await setStepUpLimits(tx, organizationId, next);
      const event = { type: "organization.updated", actorId: caller.userId, organizationId };
      audit(tx, { ...event, entityType: "organization", entityId: organizationId, metadata }, await clock(tx));
    }
    return { organizationId, ...body };
  });
