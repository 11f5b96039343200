import { add, max, min, subtract, zero, type Atomic } from "#lib/money.ts";
import type { LedgerKind, ReservationStatus } from "#lib/vocabulary.ts";

/** Of a stored hold; amounts are in atomic units. The three sums are null while the status and `amount` tell them. */
export type StoredSums = {
  readonly status: string;
  readonly amount: Atomic;
  readonly captured: Atomic | null;
  readonly released: Atomic | null;
  readonly refunded: Atomic | null;
};

/** held = captured + released + what is open. Refunded amounts were captured before. */
export type HoldSums = { readonly held: Atomic; readonly captured: Atomic; readonly released: Atomic; readonly refunded: Atomic };

/** A row of the ledger. Its kind says how it changes the sums. */
export type LedgerEntry = { readonly kind: Exclude<LedgerKind, "hold">; readonly amount: Atomic };

export const openOf = ({ held, captured, released }: HoldSums): Atomic => subtract(subtract(held, captured), released);

const ended: ReadonlySet<string> = new Set(["released", "expired"]);

export function sumsOf({ status, amount, captured, released, refunded }: StoredSums): HoldSums {
  return {
    held: amount,
    captured: captured ?? (status === "captured" ? amount : zero),
    released: released ?? (ended.has(status) ? amount : zero),
    refunded: refunded ?? zero,
  };
}

function moved(sums: HoldSums, { kind, amount }: LedgerEntry): HoldSums {
  const { held, captured, released, refunded } = sums;
  switch (kind) {
    case "raise":
      return { ...sums, held: add(held, amount) };
    case "capture":
      return { ...sums, captured: add(captured, amount) };
    case "release":
    case "expire":
      return { ...sums, released: add(released, amount) };
    case "refund":
      return { ...sums, refunded: add(refunded, amount) };
    case "overrun": {
      const back = min(released, amount);
      return {
        ...sums,
        held: add(held, subtract(amount, back)),
        captured: add(captured, amount),
        released: subtract(released, back),
      };
    }
  }
}

/** @throws RangeError if more is captured, released or refunded than there is, or a hold that has ended is raised */
export function applied(sums: HoldSums, entries: readonly LedgerEntry[]): HoldSums {
  let now = sums;
  for (const entry of entries) {
    const next = moved(now, entry);
    const isEnded = entry.kind === "raise" && openOf(now) === zero;
    if (entry.amount <= zero || isEnded || openOf(next) < zero || next.refunded > next.captured)
      throw new RangeError(`A hold cannot ${entry.kind} ${entry.amount}.`);
    now = next;
  }
  return now;
}

/** What is captured beyond the open amount is an overrun: money moved that the budget does not hold. */
export function captureEntries(sums: HoldSums, amount: Atomic): LedgerEntry[] {
  const captured = min(amount, max(openOf(sums), zero));
  const entries: LedgerEntry[] = [
    { kind: "capture", amount: captured },
    { kind: "overrun", amount: subtract(amount, captured) },
  ];
  return entries.filter((entry) => entry.amount > zero);
}

/** A hold is open until all of it is captured or released. `last` is the entry after which nothing is open. */
function statusAfter(status: string, sums: HoldSums, last: LedgerEntry["kind"]): ReservationStatus {
  if (openOf(sums) > zero) return status as ReservationStatus;
  if (sums.captured > zero) return "captured";
  return last === "expire" ? "expired" : "released";
}

/** A hold whose sums follow from its status is stored without them, unless they were stored before. */
export function storedAfter(before: StoredSums, sums: HoldSums, last: LedgerEntry["kind"]): StoredSums {
  const status = statusAfter(before.status, sums, last);
  const { held, captured, released, refunded } = sums;
  const short = { status, amount: held, captured: null, released: null, refunded: null };
  const told = sumsOf(short);
  const isTold = captured === told.captured && released === told.released && refunded === told.refunded;
  return isTold && before.captured === null ? short : { status, amount: held, captured, released, refunded };
}

/** Whether the hold counts as a payment where a policy limits their number. */
export const countsAsPayment = ({ status }: Pick<StoredSums, "status">): boolean => !ended.has(status);
