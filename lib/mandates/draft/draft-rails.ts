import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { Rail } from "#lib/vocabulary.ts";

/** Who may be paid elsewhere without asking. */
type PayeeRow = { readonly kind: "seller" | "iban" | "email" | "account"; readonly value: string };

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
};

type RailRules = Pick<Policy, "rails" | "records">;
type Payee = Exclude<NonNullable<Policy["records"]>["payees"], "any">[number];

/** What a policy admits that names no rails. */
const unnamed: readonly Rail[] = ["x402"];

export const draftRails = ({ rails, records }: RailRules): RailDraft => ({
  rails: rails ?? unnamed,
  namesRails: rails !== undefined,
  records: {
    payees: payeesOf(records),
    listed: records === undefined || records.payees === "any" ? [] : records.payees.map(rowOf),
    deadline: records?.deadline === undefined ? "" : (/^P([0-9]+)D$/.exec(records.deadline)?.[1] ?? records.deadline),
  },
});

function payeesOf(records: Policy["records"]): RailDraft["records"]["payees"] {
  if (records === undefined) return "ask";
  if (records.payees === "any") return "any";
  return records.payees.length === 0 && records.deadline !== undefined ? "ask" : "listed";
}

const rowOf = (payee: Payee): PayeeRow => ("sellerId" in payee ? { kind: "seller", value: payee.sellerId } : payee);

const payeeOf = ({ kind, value }: PayeeRow): Payee =>
  kind === "seller" ? { sellerId: value.trim() } : { kind, value: value.trim() };

const deadlineOf = (text: string): string => (/^[0-9]+$/.test(text) ? `P${text}D` : text);

export function railsBody({ rails, namesRails, records: { payees, listed, deadline } }: RailDraft): RailRules {
  const isUnnamed = !namesRails && rails.length === 1 && rails[0] === "x402";
  const ends = deadline.trim() === "" ? {} : { deadline: deadlineOf(deadline.trim()) };
  const asks = payees === "ask" && deadline.trim() === "";
  return {
    ...(!isUnnamed && { rails: [...rails] }),
    ...(rails.includes("record") &&
      !asks && { records: { payees: payees === "any" ? payees : payees === "ask" ? [] : listed.map(payeeOf), ...ends } }),
  };
}

export const railPlaces = ({ records }: RailDraft): readonly (readonly [pointer: string, field: string])[] => [
  ["/policy/rails", "rails"],
  ["/policy/records", "records.payees"],
  ["/policy/records/deadline", "records.deadline"],
  ...records.listed.map((_, at) => [`/policy/records/payees/${at}`, `records.listed.${at}.value`] as const),
];
