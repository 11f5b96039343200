import { randomUUID } from "node:crypto";
import { fitting, type Variant, type Wanted } from "./catalog.ts";

const DECIMALS = 6;
const QUOTE_MS = 15 * 60_000;
const QUANTITY_MAX = 100;
const LINES_MAX = 20;
const QUOTES_MAX = 10_000;

type Line = Omit<Variant, "available"> & { readonly quantity: number; readonly totalAmount: string; readonly asset: "USDC" };

export type Quote = {
  readonly quoteId: string;
  readonly amount: string;
  readonly asset: "USDC";
  readonly items: readonly Line[];
  readonly expiresAt: string;
};

export type Refusal = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** The amount in the token's smallest unit. */
export function atomicOf(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(DECIMALS, "0"));
}

function textOf(amount: bigint): string {
  const digits = amount.toString().padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "");
  return digits.slice(0, -DECIMALS) + (fraction && `.${fraction}`);
}

/**
 * A refusal with a code, in the form of UCP (the Universal Commerce Protocol). The service decides by the code what it reports.
 */
const refuse = (status: number, code: string, more: Readonly<Record<string, unknown>> = {}): Refusal => ({
  status,
  body: { code, messages: [{ code }], ...more },
});

function lineFor(wanted: Wanted): Line | Refusal {
  const { quantity = 1 } = wanted;
  if (!Number.isSafeInteger(quantity) || quantity < 1 || quantity > QUANTITY_MAX) return refuse(400, "invalid_quantity");
  const found = fitting(wanted);
  const [variant, another] = found.filter(({ available }) => available);
  if (another) return refuse(422, "items_ambiguous", { candidates: found });
  if (!variant) return refuse(409, found.length > 0 ? "out_of_stock" : "not_found");
  const { available: _, ...line } = variant;
  return { ...line, quantity, totalAmount: textOf(atomicOf(line.unitAmount) * BigInt(quantity)), asset: "USDC" };
}

const isList = (value: unknown): value is readonly Wanted[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= LINES_MAX &&
  value.every((item) => typeof item === "object" && item);

/**
 * The quotes of the shop, which are valid for 15 minutes and kept in memory. If there are QUOTES_MAX, a new quote replaces the
 * oldest.
 */
export function quoteBook() {
  const quotes = new Map<string, Quote>();
  return {
    /** Makes a quote with one line for each item, in the order of the request. */
    make(items: unknown): Quote | Refusal {
      if (!isList(items)) return refuse(400, "invalid_items");
      const lines: Line[] = [];
      for (const item of items) {
        const line = lineFor(item);
        if ("status" in line) return line;
        lines.push(line);
      }
      const sum = lines.reduce((sum, { totalAmount }) => sum + atomicOf(totalAmount), 0n);
      const expiresAt = new Date(Date.now() + QUOTE_MS).toISOString();
      const quote: Quote = { quoteId: `q_${randomUUID()}`, amount: textOf(sum), asset: "USDC", items: lines, expiresAt };
      if (quotes.size >= QUOTES_MAX) quotes.delete(quotes.keys().next().value ?? "");
      quotes.set(quote.quoteId, quote);
      return quote;
    },
    /** The quote with this id; null if it has expired or does not exist. */
    find(quoteId: unknown): Quote | null {
      const quote = typeof quoteId === "string" ? quotes.get(quoteId) : undefined;
      return quote && new Date(quote.expiresAt).getTime() > Date.now() ? quote : null;
    },
  };
}
