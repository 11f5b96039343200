import type { Row } from "postgres";
import { joined } from "#lib/db/bulk.ts";
import type { Sql } from "#lib/db/sql.ts";
import type { NewCardPart } from "#lib/holds/card-store.ts";
import { live } from "#lib/identity/live-store.ts";
import type { Atomic } from "#lib/money.ts";
import type { Item } from "#lib/payments/queue-item.ts";

/** The row that joins a decision to what Stripe then tells about the authorization. Null unless a card asks. */
export function cardPartOf(
  { intent, position, organizationId }: Item,
  authorizationId: string,
  held: Atomic,
): NewCardPart | null {
  const { card, seller } = intent;
  if (!card || position === undefined) return null;
  const { connectionId, cardId, stripeAuthorizationId: stripeId } = card;
  return { authorizationId, organizationId, connectionId, stripeId, cardId, merchantName: seller.name ?? null, position, held };
}

type CardAsker = Extract<Item["asker"], { kind: "card" }>;

/** Read under the gate, like keys and sessions. Sends no query unless a card asks. */
export function cardsAsking(c: Sql, items: readonly Item[]): PromiseLike<readonly Row[]> {
  const askers = items.flatMap(({ asker }): CardAsker[] => (asker.kind === "card" ? [asker] : []));
  if (askers.length === 0) return Promise.resolve([]);
  return c`
    SELECT k.connection_id, k.card_id, k.mandate_id, k.subject_id, n.organization_id, a.capabilities, a.paused_at IS NOT NULL AS paused
    FROM unnest(string_to_array(${joined(askers.map(({ connectionId }) => connectionId))}, chr(1)),
        string_to_array(${joined(askers.map(({ cardId }) => cardId))}, chr(1))) AS w(connection_id, card_id),
      LATERAL (SELECT * FROM cards WHERE connection_id = w.connection_id AND card_id = w.card_id AND removed_at IS NULL LIMIT 1) k,
      LATERAL (SELECT organization_id FROM card_connections WHERE connection_id = k.connection_id AND ended_at IS NULL LIMIT 1) n,
      LATERAL (SELECT capabilities, paused_at FROM service_accounts
        WHERE service_account_id = k.subject_id AND ${c.unsafe(live.account("service_accounts"))} LIMIT 1) a`;
}

/** Null if the card, its connection or its agent has ended, or if the card was given to another agent or mandate meanwhile. */
export function mayPay(row: Row | undefined, { asker, mandateId, organizationId, isUnasked }: Item): boolean | "paused" | null {
  if (isUnasked) return true;
  const isSame = row?.["subject_id"] === asker.subjectId && row["mandate_id"] === mandateId;
  if (!isSame || row["organization_id"] !== organizationId) return null;
  if (row["paused"] === true) return "paused";
  return (row["capabilities"] as readonly string[]).includes("payments:authorize");
}
