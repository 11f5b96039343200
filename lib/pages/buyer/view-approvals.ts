import { askingRecords } from "#lib/holds/record-store.ts";
import { askingPayments, type AskingPayment } from "#lib/pages/buyer/approvals/asking.ts";
import { countWaiting, selectDecided, selectWaiting, type WaitingRow } from "#lib/pages/buyer/approvals/page-store.ts";
import { statusAt } from "#lib/approvals/present-checkout.ts";
import { database } from "#lib/db/client.ts";
import { decodeCursor, page, type Page } from "#lib/http/paging.ts";
import { stepUpLimitsOf, type OwnStepUpLimits } from "#lib/identity/members/organization-store.ts";
import type { Asker, AskerReader } from "#lib/identity/asker.ts";
import { askersOf, subjectNames } from "#lib/identity/subject-name-store.ts";
import { askRules } from "#lib/mandates/policy/ask-rules.ts";
import type { Findings } from "#lib/mandates/policy/facts.ts";
import { reading } from "#lib/mandates/store.ts";
import { askRuleText } from "#lib/mandates/draft/summary.ts";
import { displayAmount } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** `domain` and `mandate` are untrusted text. */
type PendingRequest = {
  readonly checkoutIntentId: string;
  readonly domain: string;
  /** The amount that is paid to the payee, as formatted text: "43.00 USDC". */
  readonly amount: string;
  readonly asker: Asker;
  readonly mandate?: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
};

export type WaitingApproval = PendingRequest & {
  /** The end of a sentence: "asks above 25.00 USDC" or "an order of 3 items". */
  readonly why: string;
};

export type DecidedApproval = PendingRequest & {
  readonly status: CheckoutStatus;
  /** Absent if nobody decided, because the request has expired or was canceled or replaced. */
  readonly decided?: { readonly by: string; readonly at: string };
};

export type ApprovalsView = {
  readonly now: string;
  readonly items: readonly WaitingApproval[];
  readonly more: boolean;
  /** Payments that are made elsewhere and that a person must look at. */
  readonly asking: readonly AskingPayment[];
};

const SHOWN_MAX = 50;
const COUNTED_MAX = 100;

export const viewWaiting = (scope: AskerReader, limit = SHOWN_MAX): Promise<ApprovalsView> =>
  reading(async (tx, now) => {
    const rows = await selectWaiting(tx, scope, now, limit + 1);
    const items = rows.slice(0, limit);
    const askers = await askersOf(
      tx,
      scope,
      items.map((row) => row.ownerSubjectId),
    );
    return {
      now: toWire(now),
      items: items.map((row) => ({ ...asked(row, askers), why: whyAsked(row) })),
      more: rows.length > limit,
      asking: await askingPayments(tx, scope, limit),
    };
  });

export const waitingCount = (scope: AskerReader): Promise<number> =>
  reading(async (tx, now) => {
    const asking = await askingRecords(tx, scope, COUNTED_MAX);
    return Math.min(asking.length + (await countWaiting(tx, scope, now, COUNTED_MAX)), COUNTED_MAX);
  });

export const viewStepUpLimits = ({ organizationId }: AskerReader): Promise<OwnStepUpLimits> =>
  stepUpLimitsOf(database(), organizationId);

/** Newest first. @throws Problem invalid_request for an invalid cursor */
export const viewDecided = (
  scope: AskerReader,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<Page<DecidedApproval>> =>
  reading(async (tx, now) => {
    const rows = await selectDecided(tx, scope, now, limit + 1, decodeCursor(cursor));
    const { items, ...rest } = page(rows, limit, (row) => row.checkoutIntentId);
    const askers = await askersOf(
      tx,
      scope,
      items.map((row) => row.ownerSubjectId),
    );
    const names = await subjectNames(
      tx,
      scope.organizationId,
      items.flatMap(({ decidedBy }) => decidedBy ?? []),
    );
    const decided = items.map((row): DecidedApproval => {
      const { decidedBy: by, decidedAt: at } = row;
      const decision = by !== null && at !== null && { decided: { by: names.get(by) ?? by, at: toWire(at) } };
      return { ...asked(row, askers), status: statusAt(row, now), ...decision };
    });
    return { items: decided, ...rest };
  });

type Row = Omit<WaitingRow, "findings">;

const asked = (row: Row, askerOf: (subjectId: string) => Asker): PendingRequest => ({
  checkoutIntentId: row.checkoutIntentId,
  domain: row.domain,
  amount: displayAmount(row.amount, row.tokenDecimals, row.asset),
  asker: askerOf(row.ownerSubjectId),
  ...(row.mandateName !== null && { mandate: row.mandateName }),
  requestedAt: toWire(row.createdAt),
  expiresAt: toWire(row.expiresAt),
});

/** The first rule of the decision that asks, or the number of items of an order about which no payment was decided yet. */
function whyAsked({ findings, authorizationId, canonicalBasket }: WaitingRow): string {
  const [rule] = findings === null ? [] : askRules(JSON.parse(findings) as Findings);
  if (rule !== undefined) return askRuleText(rule);
  if (authorizationId !== null) return "asks a person";
  const count = canonicalBasket.lines.reduce((sum, { quantity }) => sum + quantity, 0);
  return `an order of ${count} ${count === 1 ? "item" : "items"}`;
}
