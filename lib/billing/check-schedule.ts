import type { SaveFeeSchedule } from "#lib/billing/billing-schema.ts";
import { formatAmount, readAmount } from "#lib/money.ts";
import type { FieldError } from "#lib/problem.ts";

/** One entry for each configured chain that has the schedule's asset. */
export type KnownAssets = readonly { readonly chain: string; readonly decimals: number }[];

type Refuse = (pointer: string, detail: string) => void;
type Amounts = Pick<SaveFeeSchedule, "flatAmount" | "minimumFeeAmount" | "maximumFeeAmount">;

export type CheckedSchedule =
  | { readonly ok: true; readonly amounts: Amounts }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** Null if the schedule names no asset, or no configured one. */
function digitsFor(
  { chain, asset }: SaveFeeSchedule,
  chains: readonly string[],
  known: KnownAssets,
  refuse: Refuse,
): number | null {
  if (chain !== undefined && !chains.includes(chain)) refuse("/chain", `This installation does not pay on ${chain}.`);
  if (asset === undefined) return null;
  const digits = new Set(known.filter((entry) => chain === undefined || entry.chain === chain).map(({ decimals }) => decimals));
  if (digits.size === 0) refuse("/asset", "This installation has no such asset on this chain.");
  if (digits.size > 1) refuse("/chain", "The number of decimals of this asset depends on the chain; name the chain.");
  return [...digits][0] ?? null;
}

function readOne(name: keyof Amounts, body: SaveFeeSchedule, digits: number | null, refuse: Refuse): bigint | undefined {
  const text = body[name];
  if (text === undefined) return undefined;
  if (body.asset === undefined && /[1-9]/.test(text)) {
    refuse(`/${name}`, "An amount needs the asset that it is counted in; name the asset, or use only percentageBps.");
  }
  const read = readAmount(text, digits ?? 18);
  if (!read.ok) refuse(`/${name}`, read.detail);
  return read.ok ? read.amount : undefined;
}

/** Returns all errors at once, or the amounts in canonical form. */
export function checkSchedule(
  body: SaveFeeSchedule,
  effectiveFrom: Date,
  chains: readonly string[],
  known: KnownAssets,
): CheckedSchedule {
  const errors: FieldError[] = [];
  const refuse: Refuse = (pointer, detail) => errors.push({ pointer, detail });
  const digits = digitsFor(body, chains, known, refuse);
  const flat = readOne("flatAmount", body, digits, refuse) ?? 0n;
  const minimum = readOne("minimumFeeAmount", body, digits, refuse);
  const maximum = readOne("maximumFeeAmount", body, digits, refuse);
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    refuse("/maximumFeeAmount", "The maximum is below the minimum.");
  }
  if (body.effectiveUntil !== undefined && new Date(body.effectiveUntil) <= effectiveFrom) {
    refuse("/effectiveUntil", "The schedule ends before it begins.");
  }
  if (errors.length > 0) return { ok: false, errors };
  const text = (amount: bigint) => formatAmount(amount, digits ?? 18);
  return {
    ok: true,
    amounts: {
      flatAmount: text(flat),
      ...(minimum !== undefined && { minimumFeeAmount: text(minimum) }),
      ...(maximum !== undefined && { maximumFeeAmount: text(maximum) }),
    },
  };
}
