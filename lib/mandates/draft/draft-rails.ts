import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { Rail } from "#lib/vocabulary.ts";

/** Who may be paid elsewhere without asking. */
type PayeeRow = { readonly kind: "seller" | "iban" | "email" | "account"; readonly value: string };

type CardList = "categories" | "countries" | "merchants";

export type RailDraft = {
  readonly rails: readonly Rail[];
  /** Whether the policy names its rails, even if they are those that every mandate admits. */
  readonly namesRails: boolean;
  /** Rules of payments that are made elsewhere. `listed` counts only if `payees` is "listed". */
  readonly records: {
    readonly payees: "ask" | "listed" | "any";
    readonly listed: readonly PayeeRow[];
    /** Days, or an ISO 8601 duration; empty for the default. */
    readonly deadline: string;
  };
  /** Rules of payments by card. The lists count only if `pays` is "listed", and an empty one restricts nothing. */
  readonly cards: Readonly<Record<CardList, readonly string[]>> & {
    readonly pays: "ask" | "listed" | "any";
    /** Lists that the policy has although they are empty, so that no merchant is in them. */
    readonly closed: readonly CardList[];
  };
};

type RailRules = Pick<Policy, "rails" | "records" | "cards">;
type Payee = Exclude<NonNullable<Policy["records"]>["payees"], "any">[number];

/** What a policy admits that names no rails. */
const unnamed: readonly Rail[] = ["x402"];

export const draftRails = ({ rails, records, cards }: RailRules): RailDraft => ({
  rails: rails ?? unnamed,
  namesRails: rails !== undefined,
  records: {
    payees: payeesOf(records),
    listed: records === undefined || records.payees === "any" ? [] : records.payees.map(rowOf),
    deadline: records?.deadline === undefined ? "" : (/^P([0-9]+)D$/.exec(records.deadline)?.[1] ?? records.deadline),
  },
  cards: draftCards(cards),
});

const cardLists: readonly CardList[] = ["categories", "countries", "merchants"];

const draftCards = (cards: Policy["cards"]): RailDraft["cards"] => ({
  pays: cards === undefined ? "ask" : cardLists.some((list) => cards[list] !== undefined) ? "listed" : "any",
  categories: cards?.categories ?? [],
  countries: cards?.countries ?? [],
  merchants: cards?.merchants ?? [],
  closed: cardLists.filter((list) => cards?.[list]?.length === 0),
});

/** Without any list, cards would pay every merchant, so an empty entry is left for the schema to refuse. */
function cardsBody({ pays, closed, ...lists }: RailDraft["cards"]): RailRules {
  if (pays === "ask") return {};
  if (pays === "any") return { cards: {} };
  const kept = cardLists.filter((list) => lists[list].length > 0 || closed.includes(list));
  if (kept.length === 0) return { cards: { categories: [""] } };
  return { cards: Object.fromEntries(kept.map((list) => [list, [...lists[list]]])) };
}

function payeesOf(records: Policy["records"]): RailDraft["records"]["payees"] {
  if (records === undefined) return "ask";
  if (records.payees === "any") return "any";
  return records.payees.length === 0 && records.deadline !== undefined ? "ask" : "listed";
}

const rowOf = (payee: Payee): PayeeRow => ("sellerId" in payee ? { kind: "seller", value: payee.sellerId } : payee);

const payeeOf = ({ kind, value }: PayeeRow): Payee =>
  kind === "seller" ? { sellerId: value.trim() } : { kind, value: value.trim() };

const deadlineOf = (text: string): string => (/^[0-9]+$/.test(text) ? `P${text}D` : text);

export function railsBody({ rails, namesRails, records: { payees, listed, deadline }, cards }: RailDraft): RailRules {
  const isUnnamed = !namesRails && rails.length === 1 && rails[0] === "x402";
  const ends = deadline.trim() === "" ? {} : { deadline: deadlineOf(deadline.trim()) };
  const asks = payees === "ask" && deadline.trim() === "";
  return {
    ...(!isUnnamed && { rails: [...rails] }),
    ...(rails.includes("record") &&
      !asks && { records: { payees: payees === "any" ? payees : payees === "ask" ? [] : listed.map(payeeOf), ...ends } }),
    ...(rails.includes("card") && cardsBody(cards)),
  };
}

export const railPlaces = ({ records }: RailDraft): readonly (readonly [pointer: string, field: string])[] => [
  ["/policy/rails", "rails"],
  ["/policy/records", "records.payees"],
  ["/policy/records/deadline", "records.deadline"],
  ["/policy/cards", "cards.pays"],
  ...cardLists.map((list) => [`/policy/cards/${list}`, `cards.${list}`] as const),
  ...records.listed.map((_, at) => [`/policy/records/payees/${at}`, `records.listed.${at}.value`] as const),
];
