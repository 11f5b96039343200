import type { Tx } from "#lib/db/client.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import { partsOf, type Hold } from "#lib/holds/hold-store.ts";
import { formatAmount, UNIT_DECIMALS, type Atomic } from "#lib/money.ts";
import { cardStandingOf, cardTransactionsOf, otherRequestsOf } from "#lib/pages/buyer/payments/card-payment-store.ts";
import { toWire } from "#lib/time.ts";

/** Names are untrusted text. Amounts are decimal text. */
export type CardPayment = {
  readonly cardId: string;
  /** Null if the card was never mapped. */
  readonly name: string | null;
  readonly account: string;
  /** What Stripe says last about the whole authorization, in the card's currency; null before it has told anything. */
  readonly told: { readonly approved: boolean; readonly status: string; readonly amount: string; readonly at: string } | null;
  /** The newest first. */
  readonly transactions: readonly {
    readonly id: string;
    readonly kind: string;
    readonly amount: string;
    readonly currency: string;
    readonly at: string;
  }[];
  /** In the unit of the mandate; null if nothing was ever held or captured for this request. */
  readonly sums: {
    readonly held: string;
    readonly captured: string;
    readonly released: string;
    readonly open: string;
    readonly unit: string;
  } | null;
  readonly asks: "exceeded" | "outside" | "unconfirmed" | null;
  /** The other requests under the same authorization at Stripe, oldest first. */
  readonly others: readonly string[];
};

const text = (amount: Atomic): string => formatAmount(amount, UNIT_DECIMALS);

const questions = ["exceeded", "outside", "unconfirmed"] as const;

/** Null unless a card paid or asked to. */
export async function cardPaymentOf(tx: Tx, row: AuthorizationRow, hold: Hold | null): Promise<CardPayment | null> {
  const standing = await cardStandingOf(tx, row.authorizationId);
  if (!standing) return null;
  const { cardId, name, account, approved, status, amount, toldAt } = standing;
  const transactions = await cardTransactionsOf(tx, standing);
  const others = await otherRequestsOf(tx, standing, row.authorizationId);
  return {
    cardId,
    name,
    account,
    told:
      approved === null || status === null || amount === null || toldAt === null
        ? null
        : { approved, status, amount: text(amount), at: toWire(new Date(toldAt * 1_000)) },
    transactions: transactions.map((one) => ({ ...one, amount: text(one.amount), at: toWire(one.at) })),
    sums: hold && sumsOf(hold, row),
    asks: questions.find((question) => question === standing.asks) ?? null,
    others,
  };
}

function sumsOf(hold: Hold, { unitRate, asset }: AuthorizationRow): CardPayment["sums"] {
  const { held, captured, released, open } = partsOf(hold);
  const unit = unitRate?.split(" ")[1] ?? asset;
  return { held: text(held), captured: text(captured), released: text(released), open: text(open), unit };
}
