import { and, count, desc, eq, isNull, sql, type SQL } from "drizzle-orm";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { wholeIntent } from "#lib/holds/authorization-store.ts";
import { authorizations, executions } from "#lib/holds/tables.ts";
import type { Findings } from "#lib/mandates/policy/facts.ts";

/** A registered seller if `sellerId` is not null, otherwise the pair of `domain` and `payTo`. */
export type Payee = Pick<CheckoutRow, "sellerId" | "domain" | "payTo">;

/** Each count reads at most this many of the newest rows. */
export const LOOKED_AT = 1_000;

/** The value of `sellerId` that a payee has in the table mandate_sellers. */
export const paidName = ({ sellerId, domain, payTo }: Payee): string => sellerId ?? `${domain} ${payTo.toLowerCase()}`;

/** For a payee that is not registered, compares only the address; countToPayee compares the domain in the stored intent. */
const ofPayee = ({ sellerId, payTo }: Payee): SQL | undefined =>
  sellerId === null
    ? and(isNull(authorizations.sellerId), eq(sql`lower(${authorizations.payTo})`, payTo.toLowerCase()))
    : eq(authorizations.sellerId, sellerId);

const newestSettled = (tx: Tx, scope: Scope) =>
  tx
    .select({ authorizationId: executions.authorizationId })
    .from(executions)
    .where(and(within(executions, scope), eq(executions.settlementStatus, "settled")))
    .orderBy(desc(executions.authorizationId))
    .limit(LOOKED_AT)
    .as("newest");

const newestDenied = (tx: Tx, scope: Scope) =>
  tx
    .select({ authorizationId: authorizations.authorizationId })
    .from(authorizations)
    .where(and(within(authorizations, scope), eq(authorizations.outcome, "deny")))
    .orderBy(desc(authorizations.authorizationId))
    .limit(LOOKED_AT)
    .as("newest");

type Newest = ReturnType<typeof newestSettled> | ReturnType<typeof newestDenied>;

async function countToPayee(tx: Tx, payee: Payee, newest: Newest): Promise<number> {
  const rows = await tx
    .select({ intent: wholeIntent })
    .from(newest)
    .innerJoin(authorizations, eq(authorizations.authorizationId, newest.authorizationId))
    .where(ofPayee(payee));
  return rows.filter(({ intent }) => payee.sellerId !== null || intent.seller.domain === payee.domain).length;
}

/** Counts among the newest settled payments; `all` means that there are no older ones. */
export async function countPaid(tx: Tx, scope: Scope, payee: Payee) {
  const newest = newestSettled(tx, scope);
  const paid = await countToPayee(tx, payee, newest);
  const [looked] = await tx.select({ rows: count() }).from(newest);
  return { paid, all: (looked?.rows ?? 0) < LOOKED_AT };
}

export const countRefused = (tx: Tx, scope: Scope, payee: Payee): Promise<number> =>
  countToPayee(tx, payee, newestDenied(tx, scope));

export async function countDeclined(tx: Tx, scope: Scope, { sellerId, domain, payTo }: Payee): Promise<number> {
  const newest = tx
    .select({
      status: checkoutIntents.status,
      sellerId: checkoutIntents.sellerId,
      domain: checkoutIntents.domain,
      payTo: checkoutIntents.payTo,
    })
    .from(checkoutIntents)
    .where(within(checkoutIntents, scope))
    .orderBy(desc(checkoutIntents.checkoutIntentId))
    .limit(LOOKED_AT)
    .as("newest");
  const same =
    sellerId === null
      ? and(isNull(newest.sellerId), eq(newest.domain, domain), eq(sql`lower(${newest.payTo})`, payTo.toLowerCase()))
      : eq(newest.sellerId, sellerId);
  const [row] = await tx
    .select({ declined: count() })
    .from(newest)
    .where(and(eq(newest.status, "rejected"), same));
  return row?.declined ?? 0;
}

/** The caller must have checked the payment's organization. */
export async function findingsOf(db: Database, authorizationId: string): Promise<Findings | null> {
  const [row] = await db
    .select({ findings: authorizations.findings })
    .from(authorizations)
    .where(eq(authorizations.authorizationId, authorizationId));
  return row ? (JSON.parse(row.findings) as Findings) : null;
}
