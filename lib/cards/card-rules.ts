import { add, max, min, subtract, zero, type Atomic } from "#lib/money.ts";

/* What Stripe's events about one card authorization (`iauth_…`) mean for its holds. Events come twice, late and in any order. */

/** The statuses that Stripe names, in the order in which they can follow each other. */
export const CARD_STATUSES = ["pending", "expired", "reversed", "closed"] as const;
export type CardStatus = (typeof CARD_STATUSES)[number];

/** The authorization as an event describes it. Amounts are in the card's currency. */
export type Snapshot = {
  readonly approved: boolean;
  readonly status: CardStatus;
  /** All that Stripe authorized or, if it did not approve, refused. */
  readonly amount: Atomic;
  /** How many requests Stripe has decided: the length of `request_history`. */
  readonly requests: number;
  /** Seconds since 1970 when the event was created. */
  readonly at: number;
};

/** What is known from all events so far. */
export type Known = { readonly snapshot: Snapshot | null; readonly captures: ReadonlyMap<string, Atomic> };

/** One decision of ours about the authorization, and what has become of its hold. A declined one holds nothing. */
export type CardPart = {
  readonly authorizationId: string;
  /** How many requests Stripe had decided before this one. */
  readonly position: number;
  /** What we approved; zero for a declined request. */
  readonly held: Atomic;
  readonly open: Atomic;
  readonly captured: Atomic;
};

const total = (amounts: Iterable<Atomic>): Atomic => [...amounts].reduce(add, zero);
const openOf = (parts: readonly CardPart[]): Atomic => total(parts.map(({ open }) => open));

/**
 * The later one of two snapshots. Stripe gives events no order, so the one that knows more requests is later, then the one whose
 * status is later. Within one second, the larger amount is kept: nothing is freed on a guess.
 */
export function later(one: Snapshot, other: Snapshot): Snapshot {
  const rank = ({ requests, status, at }: Snapshot) => [requests, CARD_STATUSES.indexOf(status), at] as const;
  const [mine, its] = [rank(one), rank(other)];
  const at = mine.findIndex((value, index) => value !== its[index]);
  if (at < 0) return one.amount >= other.amount ? one : other;
  return mine[at]! > its[at]! ? one : other;
}

export const withSnapshot = (known: Known, snapshot: Snapshot): Known => ({
  ...known,
  snapshot: known.snapshot ? later(known.snapshot, snapshot) : snapshot,
});

export const withCapture = (known: Known, id: string, amount: Atomic): Known => ({
  ...known,
  captures: new Map(known.captures).set(id, amount),
});

/** What Stripe takes at most, according to a snapshot. `tailOver`: an expired authorization is not expected to be captured any more. */
function takenBy({ approved, status, amount }: Snapshot, captured: Atomic, tailOver: boolean): Atomic {
  if (!approved || status === "reversed" || (status === "expired" && tailOver)) return captured;
  // Stripe closes an approved authorization because it was captured. Its transaction may come later than this.
  return status === "closed" && captured > zero ? captured : amount;
}

/** What must stay open, in the card's currency: what Stripe can still capture, and requests that no event has confirmed. */
export function openTarget({ snapshot, captures }: Known, parts: readonly CardPart[], tailOver: boolean): Atomic {
  const unconfirmed = total(parts.filter(({ position }) => position >= (snapshot?.requests ?? 0)).map(({ held }) => held));
  const captured = total(captures.values());
  const taken = snapshot ? takenBy(snapshot, captured, tailOver) : zero;
  return max(subtract(add(taken, unconfirmed), captured), zero);
}

/**
 * The parts as they must be now. Captures take what is open, the oldest part first; what is captured beyond is booked on the newest
 * part. A hold that has ended is not opened again: `missing` is what should be held and is not.
 */
export function follow(known: Known, parts: readonly CardPart[], tailOver: boolean) {
  let toCapture = subtract(total(known.captures.values()), total(parts.map(({ captured }) => captured)));
  const beyond = max(subtract(toCapture, openOf(parts)), zero);
  const target = openTarget(known, parts, tailOver);
  const captured = parts.map((part, index) => {
    const taken = min(toCapture, part.open);
    toCapture = subtract(toCapture, taken);
    const more = index === parts.length - 1 ? beyond : zero;
    return { ...part, open: subtract(part.open, taken), captured: add(part.captured, add(taken, more)) };
  });
  const now = openOf(captured);
  const kept = now > target ? lowered(captured, subtract(now, target)) : raised(captured, subtract(target, now));
  return { parts: kept, beyond, missing: max(subtract(target, openOf(kept)), zero) };
}

/** The newest part is released first. */
function lowered(parts: readonly CardPart[], amount: Atomic): readonly CardPart[] {
  let left = amount;
  return parts
    .toReversed()
    .map((part) => {
      const released = min(left, part.open);
      left = subtract(left, released);
      return { ...part, open: subtract(part.open, released) };
    })
    .toReversed();
}

function raised(parts: readonly CardPart[], amount: Atomic): readonly CardPart[] {
  const last = parts.findLastIndex(({ open }) => open > zero);
  return parts.map((part, index) => (index === last ? { ...part, open: add(part.open, amount) } : part));
}
