import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { lockMembers } from "#lib/identity/lock-members.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { setStepUpAbove, stepUpAboveOf } from "#lib/identity/members/organization-store.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { parseAmount } from "#lib/money.ts";
import { Problem } from "#lib/problem.ts";

const DECIMALS = 18;

/** Null means no threshold. A higher threshold lets larger payments be approved without a proof of identity. */
const isLooser = (next: string | null, current: string | null): boolean =>
  current !== null && (next === null || parseAmount(next, DECIMALS) > parseAmount(current, DECIMALS));

/** Closes the gate, so that no approval under the previous threshold is still in progress when the reply is sent. */
export const setStepUpThreshold: Handler<typeof contract.setStepUpThreshold> = async (
  { organizationId, body: { above } },
  { caller, idempotency },
) =>
  once(contract.setStepUpThreshold, idempotency, async (tx) => {
    await closeGate(tx, caller.organizationId);
    const { role } = await lockMembers(tx, organizationId, caller);
    if (!capabilitiesOfRole(role).has("members:manage"))
      throw new Problem("forbidden", { detail: "Your role was changed meanwhile. An owner or admin can set the amount." });
    const current = await stepUpAboveOf(tx, organizationId);
    const next = above ?? null;
    if (current !== next) {
      if (isLooser(next, current)) await requireProvedToGive(tx, caller);
      await setStepUpAbove(tx, organizationId, next);
      const event = { type: "organization.updated", actorId: caller.userId, organizationId };
      const metadata = { stepUpAbove: { from: current, to: next } };
      audit(tx, { ...event, entityType: "organization", entityId: organizationId, metadata }, await clock(tx));
    }
    return { organizationId, ...(next !== null && { above: next }) };
  });
