import { Outcome, SettlementStatus } from "#lib/vocabulary.ts";

/* How the address of the payments page narrows its list. Pure and browser-safe. */

/** What a person typed into the search field, told apart by its form. */
export type PaymentSearch =
  | {
      readonly kind: "id";
      readonly of: "authorization" | "execution" | "reservation" | "checkout" | "order";
      readonly id: string;
    }
  | { readonly kind: "transaction"; readonly hash: string }
  /** Decimal text of any asset. */
  | { readonly kind: "amount"; readonly amount: string }
  /** An intentId, an idempotency key, or else a part of a domain. */
  | { readonly kind: "text"; readonly text: string };

export type PaymentFilter = {
  readonly search?: PaymentSearch;
  readonly mandateId?: string;
  /** The service account or person that asked. */
  readonly subjectId?: string;
  /** A domain; what is below it counts. */
  readonly domain?: string;
  readonly outcome?: Outcome;
  /** Of the attempt that counts: the live one, else a failed one. */
  readonly settlementStatus?: SettlementStatus;
  /** Asked at this time or later, and before that one. */
  readonly since?: Date;
  readonly until?: Date;
};

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const DAY_MS = 86_400_000;
const ID = /^[A-Za-z0-9_.:-]{1,128}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const AMOUNT = /^(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,18})?$/;
const DOMAIN = /^[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?$/;

const kinds = {
  aut: "authorization",
  exe: "execution",
  rsv: "reservation",
  cki: "checkout",
  ord: "order",
} as const;

/** Null where nothing of ours could be written like this. */
export function readSearch(typed: string): PaymentSearch | null {
  const text = typed.trim();
  const lower = text.toLowerCase();
  const [, prefix = ""] = /^([a-z]{3})_[0-9a-z]{26}$/.exec(lower) ?? [];
  if (prefix in kinds) return { kind: "id", of: kinds[prefix as keyof typeof kinds], id: lower };
  if (HASH.test(lower)) return { kind: "transaction", hash: lower };
  const amount = lower.replace(/\s*[a-z]{2,5}$/, "").replaceAll(",", "");
  if (AMOUNT.test(amount)) return { kind: "amount", amount };
  return ID.test(text) ? { kind: "text", text } : null;
}

/** Midnight in UTC at the beginning of a day; null for what is none. */
function dayOf(text: string | undefined): Date | null {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const day = new Date(`${text}T00:00:00.000Z`);
  return Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text ? null : day;
}

/** Reads a page's query. What makes no sense is left out: an address that somebody typed still shows payments. */
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
  const since = dayOf(value("createdFrom"));
  const until = dayOf(value("createdTo"));
  return {
    ...(search && { search }),
    ...(mandateId !== undefined && { mandateId }),
    ...(subjectId !== undefined && { subjectId }),
    ...(domain !== undefined && DOMAIN.test(domain) && { domain }),
    ...(outcome && { outcome }),
    ...(settlementStatus && { settlementStatus }),
    ...(since && { since }),
    ...(until && { until: new Date(until.getTime() + DAY_MS) }),
  };
}

/** The names that an address may narrow by. */
export const filterNames = ["q", "mandate", "agent", "seller", "outcome", "settlement", "createdFrom", "createdTo"] as const;

/** Whether the address narrows at all. */
export const isNarrowed = (filter: PaymentFilter): boolean => Object.keys(filter).length > 0;
