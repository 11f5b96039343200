import { add, max, min, subtract, zero, type Atomic } from "#lib/money.ts";

/* What Stripe's events about one card authorization (`iauth_…`) mean for its holds. Events come twice, late and in any order. */

/** The statuses that Stripe names, in the order in which they can follow each other. */
export const CARD_STATUSES = ["pending", "expired", "reversed", "closed"] as const;
export type CardStatus = (typeof CARD_STATUSES)[number];

/** The authorization as an event describes it. Amounts are in the card's currency. */
export type Snapshot = {
  readonly approved: boolean;
  readonly status: CardStatus;
  /** All that Stripe authorized or, if it did not approve, refused. After the end it may be less. */
  readonly amount: Atomic;
  /** How many requests Stripe has decided: the length of `request_history`. */
  readonly requests: number;
  /** Seconds since 1970 when the event was created. */
  readonly at: number;
};

/** What is known from all events so far. `pending` is the newest snapshot before the end, as a late one may tell less. */
export type Known = {
  readonly snapshot: Snapshot | null;
  readonly pending: Snapshot | null;
  readonly captures: ReadonlyMap<string, Atomic>;
};

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

/** `newer` chooses between two snapshots. */
export function withSnapshot(known: Known, told: Snapshot, newer = later): Known {
  const after = (before: Snapshot | null): Snapshot => (before ? newer(before, told) : told);
  const isPending = told.approved && told.status === "pending";
  return { ...known, snapshot: after(known.snapshot), pending: isPending ? after(known.pending) : known.pending };
}

export const withCapture = (known: Known, id: string, amount: Atomic): Known => ({
  ...known,
  captures: new Map(known.captures).set(id, amount),
});

/** Stripe says that these can be captured later, or were captured and the transaction may come later. */
const endsLate: ReadonlySet<CardStatus> = new Set(["expired", "closed"]);

/** Whether nothing more is captured under it as soon as its tail is over. */
export const hasTail = ({ approved, status }: Snapshot): boolean => approved && endsLate.has(status);

/**
 * What must stay open, in the card's currency: what Stripe can still capture, and requests that no event has confirmed. Until the tail
 * is over, nothing is freed by an end, because Stripe's amount is then what was authorized, what is left of it, or zero.
 */
export function openTarget({ snapshot, pending, captures }: Known, parts: readonly CardPart[], tailOver: boolean): Atomic {
  const captured = total(captures.values());
  const left = (told: Atomic, requests: number): Atomic => {
    const unconfirmed = total(parts.filter(({ position }) => position >= requests).map(({ held }) => held));
    return max(subtract(add(told, unconfirmed), captured), zero);
  };
  if (!snapshot) return left(zero, 0);
  const isTail = hasTail(snapshot);
  if (isTail && !tailOver) {
    const { amount, requests } = pending ?? { amount: zero, requests: 0 };
    return [left(amount, requests), left(snapshot.amount, snapshot.requests), openOf(parts)].reduce(max);
  }
  const isOver = !snapshot.approved || snapshot.status === "reversed" || isTail;
  return left(isOver ? captured : snapshot.amount, snapshot.requests);
}

/**
 * The parts as they must be now. Captures take what is open, the oldest part first; what is captured beyond is booked on the newest
 * part that was allowed. A hold that has ended is not opened again: `missing` is what should be held and is not.
 */
export function follow(known: Known, parts: readonly CardPart[], tailOver: boolean) {
  let toCapture = subtract(total(known.captures.values()), total(parts.map(({ captured }) => captured)));
  const beyond = max(subtract(toCapture, openOf(parts)), zero);
  const allowed = parts.findLastIndex(({ held }) => held > zero);
  const captured = parts.map((part, index) => {
    const taken = min(toCapture, part.open);
    toCapture = subtract(toCapture, taken);
    const more = index === (allowed < 0 ? parts.length - 1 : allowed) ? beyond : zero;
    return { ...part, open: subtract(part.open, taken), captured: add(part.captured, add(taken, more)) };
  });
  const target = openTarget(known, captured, tailOver);
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
