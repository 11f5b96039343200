import { BYTES32 } from "#lib/evm.ts";
import { daysAfter, readDay } from "#lib/time.ts";
import { Outcome, SettlementStatus } from "#lib/vocabulary.ts";

/* Reads the filters of the payments page from its URL. Pure and browser-safe. */

export type PaymentSearch =
  | {
      readonly kind: "id";
      readonly of: "authorization" | "execution" | "reservation" | "checkout" | "order";
      readonly id: string;
    }
  | { readonly kind: "transaction"; readonly hash: string }
  /** A decimal amount, in any asset. */
  | { readonly kind: "amount"; readonly amount: string }
  /** An intentId, an idempotency key, or a domain, which includes its subdomains. */
  | { readonly kind: "text"; readonly text: string };

export type PaymentFilter = {
  readonly search?: PaymentSearch;
  readonly mandateId?: string;
  readonly subjectId?: string;
  /** A domain, including its subdomains. */
  readonly domain?: string;
  readonly outcome?: Outcome;
  /** The settlement status of the execution that has not failed; if all executions failed, the status is failed. */
  readonly settlementStatus?: SettlementStatus;
  /** Payments that were requested at or after this time. */
  readonly since?: Date;
  /** Payments that were requested before this time. */
  readonly until?: Date;
};

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const ID = /^[A-Za-z0-9_.:-]{1,128}$/;
const AMOUNT = /^(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,18})?$/;
const DOMAIN = /^[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?$/;

const kinds = {
  aut: "authorization",
  exe: "execution",
  rsv: "reservation",
  cki: "checkout",
  ord: "order",
} as const;

/** Classifies the text of the search field; null if it is empty or of no kind. */
export function readSearch(typed: string): PaymentSearch | null {
  const text = typed.trim();
  const lower = text.toLowerCase();
  const [, prefix = ""] = /^([a-z]{3})_[0-9a-z]{26}$/.exec(lower) ?? [];
  if (prefix in kinds) return { kind: "id", of: kinds[prefix as keyof typeof kinds], id: lower };
  if (BYTES32.test(lower)) return { kind: "transaction", hash: lower };
  const amount = lower.replace(/\s*[a-z]{2,5}$/, "").replaceAll(",", "");
  if (AMOUNT.test(amount)) return { kind: "amount", amount };
  return ID.test(text) ? { kind: "text", text } : null;
}

/** Reads the query of the page's URL. Invalid values are ignored, so a URL that a person typed still shows payments. */
export function readPaymentFilter(query: Query): PaymentFilter {
  const value = (name: string): string | undefined => {
    const given = query[name];
    const first = typeof given === "string" ? given : given?.[0];
    return first?.trim() || undefined;
  };
  const id = (name: string) => (ID.test(value(name) ?? "") ? value(name) : undefined);
  const search = readSearch(value("q") ?? "");
  const mandateId = id("mandate");
  const subjectId = id("agent");
  const domain = value("seller")?.toLowerCase();
  const outcome = Outcome.safeParse(value("outcome")).data;
  const settlementStatus = SettlementStatus.safeParse(value("settlement")).data;
  const since = readDay(value("createdFrom"));
  const until = readDay(value("createdTo"));
  return {
    ...(search && { search }),
    ...(mandateId !== undefined && { mandateId }),
    ...(subjectId !== undefined && { subjectId }),
    ...(domain !== undefined && DOMAIN.test(domain) && { domain }),
    ...(outcome && { outcome }),
    ...(settlementStatus && { settlementStatus }),
    ...(since && { since }),
    ...(until && { until: daysAfter(until, 1) }),
  };
}

export const filterNames = ["q", "mandate", "agent", "seller", "outcome", "settlement", "createdFrom", "createdTo"] as const;

export const isNarrowed = (filter: PaymentFilter): boolean => Object.keys(filter).length > 0;
