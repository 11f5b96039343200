import { audit, clock } from "#lib/audit/transact.ts";
import { findCard, lockOwnConnection, saveCard, type CardRow } from "#lib/cards/connection-store.ts";
import * as contract from "#lib/cards/contract.ts";
import { presentCard } from "#lib/cards/present-card-connection.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Tx } from "#lib/db/client.ts";
import type { Handler, MemberCaller } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { findMandate, unknownAgents } from "#lib/mandates/store.ts";
import { invalidField, notFound } from "#lib/problem.ts";

export const setCard: Handler<typeof contract.setCard> = ({ connectionId, cardId, body }, { caller, idempotency }) =>
  once(contract.setCard, idempotency, async (tx) => {
    const { userId, organizationId } = caller;
    if (!contract.StripeCardId.safeParse(cardId).success)
      throw invalidField("/path/cardId", "Write the id of a card at Stripe, which begins with ic_.");
    // After this, no decision that began before uses the card.
    await closeGate(tx, organizationId);
    await requireStillHeld(tx, caller, "mandates:create");
    if (!(await lockOwnConnection(tx, caller, connectionId))) throw notFound("connection");
    const before = await findCard(tx, connectionId, cardId);
    const now = await clock(tx);
    const event = { actorId: userId, organizationId, entityType: "card", entityId: cardId } as const;
    if (body.mandateId === null) {
      if (before) await saveCard(tx, { ...before, removedAt: now });
      if (before) audit(tx, { ...event, type: "card.removed", metadata: { connectionId } }, now);
      return { card: null };
    }
    const { name, mandateId, serviceAccountId: subjectId } = body;
    await requireUsable(tx, caller, mandateId, subjectId);
    await requireProvedToGive(tx, caller);
    const row: CardRow = {
      connectionId,
      cardId,
      organizationId,
      mandateId,
      subjectId,
      name,
      createdBy: userId,
      createdAt: now,
      removedAt: null,
    };
    await saveCard(tx, row);
    audit(tx, { ...event, type: "card.mapped", metadata: { connectionId, mandateId, serviceAccountId: subjectId, name } }, now);
    return { card: presentCard(row) };
  });

/** @throws Problem invalid_request */
async function requireUsable(tx: Tx, caller: MemberCaller, mandateId: string, subjectId: string): Promise<void> {
  const mandate = await findMandate(tx, caller, mandateId);
  if (!mandate) throw invalidField("/mandateId", "The organization has no such mandate.");
  if (!mandate.policy.rails?.includes("card"))
    throw invalidField("/mandateId", "This mandate does not admit cards. Add the rail card to its policy first.");
  if ((await unknownAgents(tx, caller, [subjectId])).size > 0)
    throw invalidField("/serviceAccountId", "The organization has no such agent.");
}
