import { lockApprovers } from "#lib/approvals/decision/batch-store.ts";
import { joinRisk, readRisk, riskColumn, sellerPaidBefore, type Risk } from "#lib/approvals/decision/risk-store.ts";
import { allowances } from "#lib/approvals/tables.ts";
import { sqlOf, type Tx } from "#lib/db/client.ts";
import type { Atomic } from "#lib/money.ts";

export type Passage = {
  readonly organizationId: string;
  readonly subjectId: string;
  readonly sellerId: string | null;
  readonly asset: string;
  readonly chain: string;
  readonly decimals: number;
  readonly amount: Atomic;
};

export type PassageFacts = {
  readonly risk: Risk;
  readonly sellerPaidBefore: boolean;
  readonly sessionCreatedAt: Date;
  readonly provedAt: Date | null;
};

/** Locks the person's approvals first, as each act counts what they let through within a day. */
export async function passageFacts(tx: Tx, by: { readonly userId: string; readonly sessionId: string }, passage: Passage) {
  const c = sqlOf(tx);
  await lockApprovers(c, [by.userId]);
  const { organizationId, subjectId, sellerId, asset, chain, decimals } = passage;
  const [row] = await c`
    SELECT s.created_at AS session_created_at, s.proved_at, ${sellerPaidBefore(c)}, ${riskColumn(c)}
    FROM (SELECT ${organizationId}::text AS organization_id, ${subjectId}::text AS checkout_intent_id, ${sellerId}::text AS seller_id,
        NULL::text AS domain, NULL::text AS pay_to, ${asset}::text AS asset, ${chain}::text AS chain, ${decimals}::int AS token_decimals) k
      LEFT JOIN LATERAL (SELECT created_at, proved_at, user_id FROM session WHERE id = ${by.sessionId} LIMIT 1) s ON true
      ${joinRisk(c)}`;
  const at = (name: string) => (typeof row?.[name] === "string" ? new Date(row[name]) : null);
  return {
    risk: readRisk(row!["risk"] as Parameters<typeof readRisk>[0]),
    sellerPaidBefore: row!["seller_paid_before"] as boolean,
    sessionCreatedAt: at("session_created_at") ?? new Date(0),
    provedAt: at("proved_at"),
  } satisfies PassageFacts;
}

export async function insertAllowance(tx: Tx, row: typeof allowances.$inferInsert): Promise<void> {
  await tx.insert(allowances).values(row);
}
