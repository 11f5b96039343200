declare const atomic: unique symbol;

/** An amount in the smallest unit of its asset. */
export type Atomic = bigint & { readonly [atomic]: true };

/** Amounts must be less than this, because an EVM token cannot hold more. */
const LIMIT = 2n ** 256n;

export const NOT_DECIMAL = "Write the amount as a plain decimal number, such as 1.50.";

/** Whether an amount that was computed is stored, as those that are read are. */
export const isStorable = (amount: bigint): boolean => amount < LIMIT;

/** A decimal number in ASCII: no sign, exponent or needless leading zeros, at most 78 digits before the point and 18 after it. */
export const AMOUNT = /^(0|[1-9][0-9]{0,77})(\.[0-9]{1,18})?$/;

export const zero = 0n as Atomic;

export const atomicOf = (value: bigint | string): Atomic => BigInt(value) as Atomic;

export type ParsedAmount = { readonly ok: true; readonly amount: Atomic } | { readonly ok: false; readonly detail: string };

/** Reads a decimal amount exactly. Text with more decimals than the asset has is refused and never rounded. */
export function readAmount(text: string, decimals: number): ParsedAmount {
  if (!AMOUNT.test(text)) return { ok: false, detail: NOT_DECIMAL };
  const [whole = "", fraction = ""] = text.split(".");
  if (fraction.length > decimals)
    return { ok: false, detail: `This asset has ${decimals} decimals, and the amount has ${fraction.length}.` };
  const amount = BigInt(whole + fraction.padEnd(decimals, "0"));
  if (amount >= LIMIT) return { ok: false, detail: "The amount is larger than any token can hold." };
  return { ok: true, amount: amount as Atomic };
}

/** Reads text that was validated before, for example in a stored policy. @throws RangeError if it is invalid */
export function parseAmount(text: string, decimals: number): Atomic {
  const parsed = readAmount(text, decimals);
  if (!parsed.ok) throw new RangeError(parsed.detail);
  return parsed.amount;
}

const ZERO = 48;

/** Writes an amount as decimal text in its one canonical form: no exponent, and no zeros at the end of the decimals. */
export function formatAmount(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}

const grouped = (whole: string): string => (whole.length > 3 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole);

/** Writes decimal text for people: at least two decimals, commas between thousands, and the asset, as in "1,200.00 USDC". */
export function displayText(amount: string, asset: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  return `${grouped(whole)}.${fraction.padEnd(2, "0")} ${asset}`;
}

export const displayAmount = (amount: bigint, decimals: number, asset: string): string =>
  displayText(formatAmount(amount, decimals), asset);

export const add = (a: Atomic, b: Atomic): Atomic => (a + b) as Atomic;
export const subtract = (a: Atomic, b: Atomic): Atomic => (a - b) as Atomic;
export const min = (a: Atomic, b: Atomic): Atomic => (a < b ? a : b);
export const max = (a: Atomic, b: Atomic): Atomic => (a > b ? a : b);

/** Computes amount * bps / 10,000, rounded up, so that nobody avoids a fee by splitting a payment into small ones. */
export const basisPointsUp = (amount: Atomic, bps: number): Atomic => ((amount * BigInt(bps) + 9_999n) / 10_000n) as Atomic;

/** Rounds down: if two parties share an odd amount, the party that does not pay this half pays the extra unit. */
export const halfDown = (amount: Atomic): Atomic => (amount / 2n) as Atomic;

/** A mandate may count in a unit, such as USD (ADR 0064). Its amounts have so many decimals, and so has a rate: what one whole asset counts as. */
export const UNIT_DECIMALS = 9;

/** What the chains of all units begin with. */
export const UNIT_CHAIN = "iso4217:";

/** In the form of CAIP-2; with it, a unit is the asset of a payment that moves on no chain. */
export const chainOfUnit = (unit: string): string => `${UNIT_CHAIN}${unit}`;

export const isUnitChain = (chain: string): boolean => chain.startsWith(UNIT_CHAIN);

/** What an authorization counted as, such as "0.28 USD"; `rate` is text such as "1.12 USD". Null without a unit. */
export const countedText = (amount: bigint | null, rate: string | null): string | null =>
  amount === null || rate === null ? null : displayAmount(amount, UNIT_DECIMALS, rate.split(" ")[1] ?? "");

/** The rate in text such as "1.12 USD". */
export const rateIn = (text: string): Atomic => parseAmount(text.slice(0, text.indexOf(" ")), UNIT_DECIMALS);

/** An amount of an asset with so many decimals, and what one whole asset counts as. */
type Counted = { readonly amount: Atomic; readonly decimals: number; readonly rate: Atomic };

/** Rounded up, so that a payment never counts as less than it is. */
export function countUp({ amount, decimals, rate }: Counted): Atomic {
  const whole = 10n ** BigInt(decimals);
  return ((amount * rate + whole - 1n) / whole) as Atomic;
}

/** For what comes back: rounded down, so that a budget never gets back more than it gave. */
export const countDown = ({ amount, decimals, rate }: Counted): Atomic => ((amount * rate) / 10n ** BigInt(decimals)) as Atomic;

type Booked = { readonly held: Atomic; readonly captured: Atomic };

/**
 * What a capture books, when `amount` is all that was captured so far, this capture included. The sum of what is booked depends
 * only on that amount and not on its parts, and is never above what was held; what is left of the hold is its exact rest.
 */
export const bookOfCapture = (counted: Counted, { held, captured }: Booked): Atomic =>
  subtract(min(held, countUp(counted)), captured);
