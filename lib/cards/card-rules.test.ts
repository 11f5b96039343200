import { describe, expect, test } from "vitest";
import {
  follow,
  later,
  openTarget,
  withCapture,
  withSnapshot,
  type CardPart,
  type Known,
  type Snapshot,
} from "#lib/cards/card-rules.ts";
import { atomicOf, type Atomic } from "#lib/money.ts";

/*
 * A model of a card authorization, from what Stripe says of it: an authorization is approved or declined by the answer to its request or,
 * without an answer, by a setting; an increment asks for an additional amount under the same authorization; a merchant reverses a part
 * or all of it; it is captured in parts, for more than it was, or after it expired, and is closed when it was captured.
 */

type Rules = { readonly later: typeof later; readonly withCapture: typeof withCapture; readonly follow: typeof follow };
const rules: Rules = { later, withCapture, follow };

type Event =
  | { readonly kind: "asked"; readonly part: CardPart }
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot; readonly number: number; readonly truth: bigint }
  | { readonly kind: "captured"; readonly id: string; readonly amount: Atomic }
  | { readonly kind: "tailOver" };

/** Numbers of a seeded generator (mulberry32), so that a failing order can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Life = { readonly events: readonly Event[]; readonly captured: Atomic };

/** What happens at Stripe, in its order. It always ends, so that nothing is held at the end. */
function lifeOf(below: (most: number) => number): Life {
  const events: Event[] = [];
  let [amount, captured, requests, at, approved] = [0n, 0n, 0, 1_000, false];
  let captures = 0;
  const tell = (status: Snapshot["status"]): void => {
    at += below(2);
    // At the end Stripe tells what was authorized, what is left of it, or nothing.
    const left = amount > captured ? amount - captured : 0n;
    const told = status === "pending" || !approved ? amount : [amount, left, 0n][below(3)]!;
    const snapshot = { approved, status, amount: atomicOf(told), requests, at };
    events.push({ kind: "snapshot", snapshot, number: events.length, truth: amount });
  };
  const ask = (): void => {
    const asked = BigInt(1 + below(100));
    const weAllow = below(4) > 0;
    // Stripe decides alone when our answer is late.
    const theyAllow = below(10) === 0 ? below(2) > 0 : weAllow;
    const held = atomicOf(weAllow ? asked : 0n);
    events.push({
      kind: "asked",
      part: { authorizationId: `aut_${requests}`, position: requests, held, open: held, captured: atomicOf(0n) },
    });
    requests += 1;
    if (theyAllow) [amount, approved] = [amount + asked, true];
    else if (!approved) amount = asked;
    tell(approved ? "pending" : "closed");
  };
  const capture = (most: bigint): void => {
    const taken = BigInt(1 + below(Number(most)));
    captured += taken;
    captures += 1;
    events.push({ kind: "captured", id: `ipi_${captures}`, amount: atomicOf(taken) });
  };
  ask();
  for (let step = approved ? below(5) : 0; step > 0; step -= 1) {
    const left = amount - captured - 1n;
    const what = below(4);
    if (what < 2) ask();
    else if (left > 0n) {
      if (what === 2) amount -= BigInt(1 + below(Number(left)));
      else capture(left);
      tell("pending");
    }
  }
  end();
  return { events, captured: atomicOf(captured) };

  function end(): void {
    const how = approved ? below(4) : below(6) + 4;
    if (how === 0) tell("reversed");
    if (how === 1 || how === 2) tell("expired");
    // Also more than was authorized, also of an authorization that expired or was declined.
    if (how === 2 || how === 3 || how === 4) {
      capture(amount + 20n);
      if (how !== 4) tell("closed");
    }
    if (approved) events.push({ kind: "tailOver" });
  }
}

/** Any order, with events that come twice. An event of a request comes before those that follow from it, as Stripe waits for the answer. */
function disordered({ events }: Life, below: (most: number) => number): Event[] {
  const order = events.map((event, index) => ({ event, at: index + (below(3) > 0 ? below(6) : 0) }));
  const twice = order.flatMap((one) => (below(4) === 0 ? [one, { event: one.event, at: one.at + below(8) }] : [one]));
  const asked = events.find(({ kind }) => kind === "asked")!;
  const sorted = twice.toSorted((a, b) => a.at - b.at).map(({ event }) => event);
  const last = sorted.filter(({ kind }) => kind === "tailOver");
  return [asked, ...sorted.filter((event) => event !== asked && event.kind !== "tailOver"), ...last];
}

type State = { readonly known: Known; readonly parts: readonly CardPart[]; readonly tailOver: boolean };
const nothing: State = { known: { snapshot: null, pending: null, captures: new Map() }, parts: [], tailOver: false };

function step(state: State, event: Event, by: Rules): State {
  const { known, parts } = state;
  if (event.kind === "asked" && parts.some(({ authorizationId }) => authorizationId === event.part.authorizationId)) return state;
  const next: State =
    event.kind === "asked"
      ? { ...state, parts: [...parts, event.part].toSorted((a, b) => a.position - b.position) }
      : event.kind === "tailOver"
        ? { ...state, tailOver: true }
        : {
            ...state,
            known:
              event.kind === "captured"
                ? by.withCapture(known, event.id, event.amount)
                : withSnapshot(known, event.snapshot, by.later),
          };
  return { ...next, parts: by.follow(next.known, next.parts, next.tailOver).parts };
}

const sum = (parts: readonly CardPart[], of: "open" | "captured" | "held"): bigint =>
  parts.reduce((all, part) => all + part[of], 0n);

const largest = (amounts: readonly bigint[]): bigint => amounts.reduce((most, amount) => (amount > most ? amount : most));

function capturedIn(delivered: readonly Event[]): bigint {
  const captures = new Map(delivered.flatMap((event) => (event.kind === "captured" ? [[event.id, event.amount] as const] : [])));
  return [...captures.values()].reduce((all, amount) => all + amount, 0n);
}

/** What Stripe may still take, as far as the delivered events tell in Stripe's own order. */
function leastOpen(delivered: readonly Event[], state: State, life: Life): bigint {
  const captured = capturedIn(delivered);
  const snapshots = delivered.flatMap((event) => (event.kind === "snapshot" ? [event] : []));
  const { snapshot, truth = 0n } = snapshots.toSorted((a, b) => b.number - a.number)[0] ?? {};
  const unconfirmed = sum(
    state.parts.filter(({ position }) => position >= (snapshot?.requests ?? 0)),
    "held",
  );
  const isLate = snapshot?.status === "expired" || snapshot?.status === "closed";
  const ends = !snapshot?.approved || snapshot.status === "reversed" || (isLate && state.tailOver);
  // After the end Stripe may tell less, so more than was told before is not known.
  const pending = snapshots
    .filter((one) => one.snapshot.status === "pending")
    .toSorted((a, b) => b.number - a.number)[0]?.snapshot;
  const { requests = 0, amount = 0n } = pending ?? {};
  const untold = state.parts.filter(({ position }) => position >= requests && position < (snapshot?.requests ?? 0));
  const told = amount + sum(untold, "held");
  const most = [truth, ...(snapshot?.status === "closed" ? [life.captured] : []), ...(isLate ? [told] : [])];
  const held = ends ? captured : -largest(most.map((amount) => -amount));
  const least = (snapshot ? held : 0n) + unconfirmed - captured;
  return least > 0n ? least : 0n;
}

/** @throws if the rules do not agree with the model */
function run(seed: number, by: Rules): void {
  const below = random(seed);
  const life = lifeOf(below);
  const delivered: Event[] = [];
  let state = nothing;
  for (const event of disordered(life, below)) {
    const before = state;
    state = step(state, event, by);
    delivered.push(event);
    const captured = capturedIn(delivered);
    const { missing, parts } = by.follow(state.known, state.parts, state.tailOver);
    const asked =
      event.kind === "asked" && before.parts.every(({ position }) => position !== event.part.position) ? event.part.open : 0n;
    const left = sum(before.parts, "open") + asked - (captured - sum(before.parts, "captured"));
    if (left > 0n) expect(missing, `a hold ends too early in ${seed}`).toBe(0n);
    expect(sum(state.parts, "captured"), `captured of ${seed}`).toBe(captured);
    expect(sum(state.parts, "open") + missing, `open of ${seed}`).toBeGreaterThanOrEqual(leastOpen(delivered, state, life));
    expect(
      state.parts.every(({ open }) => open >= 0n),
      `below zero in ${seed}`,
    ).toBe(true);
    expect(parts, `a repeat changes ${seed}`).toEqual(state.parts);
    for (const part of before.parts) {
      const after = state.parts.find(({ authorizationId }) => authorizationId === part.authorizationId)!;
      expect(after.captured, `less is captured in ${seed}`).toBeGreaterThanOrEqual(part.captured);
      if (part.open === 0n) expect(after.open, `a hold that has ended opens in ${seed}`).toBe(0n);
    }
  }
  expect([sum(state.parts, "captured"), sum(state.parts, "open")], `the end of ${seed}`).toEqual([life.captured, 0n]);
}

const ORDERS = 10_000;
const failing = (by: Rules): number | null => {
  for (let seed = 1; seed <= ORDERS; seed += 1) {
    try {
      run(seed, by);
    } catch {
      return seed;
    }
  }
  return null;
};

test("in any order of events, with duplicates, the holds follow what Stripe holds and captures", () => {
  for (let seed = 1; seed <= ORDERS; seed += 1) run(seed, rules);
});

type Follow = typeof follow;
const changing =
  (change: (parts: readonly CardPart[], known: Known) => readonly CardPart[]): Follow =>
  (known, parts, tailOver) => {
    const followed = follow(known, parts, tailOver);
    return { ...followed, parts: change(followed.parts, known) };
  };
const planted: Readonly<Record<string, Partial<Rules>>> = {
  "the last event counts, whatever it tells": { later: (_, other) => other },
  "the first event counts": { later: (one) => one },
  "only the time orders events": { later: (one, other) => (one.at >= other.at ? one : other) },
  "the smaller amount counts": { later: (one, other) => (one.amount <= other.amount ? one : other) },
  "a repeated capture counts again": {
    withCapture: (known, id, amount) => withCapture(known, known.captures.has(id) ? `${id} again` : id, amount),
  },
  "a second capture replaces the first": {
    withCapture: (known, id, amount) => ({ ...known, captures: new Map([[id, amount]]) }),
  },
  "what is captured beyond is not booked": {
    follow: (known, parts, tailOver) => {
      const { beyond, ...followed } = follow(known, parts, tailOver);
      const last = followed.parts.length - 1;
      const less = followed.parts.map((part, index) =>
        index === last ? { ...part, captured: atomicOf(part.captured - beyond) } : part,
      );
      return { ...followed, beyond, parts: less };
    },
  },
  "a closed authorization is released before its transaction": {
    follow: (known, parts, tailOver) => follow(known, parts, tailOver || known.snapshot?.status === "closed"),
  },
  "an expired authorization is released at once": { follow: (known, parts) => follow(known, parts, true) },
  "an expired authorization is never released": { follow: (known, parts) => follow(known, parts, false) },
  "a request that no event has confirmed is released": {
    follow: changing((parts, { snapshot }) =>
      parts.map((part) => (snapshot && part.position >= snapshot.requests ? { ...part, open: atomicOf(0n) } : part)),
    ),
  },
  "a capture closes the authorization": {
    follow: changing((parts, { captures }) =>
      captures.size > 0 ? parts.map((part) => ({ ...part, open: atomicOf(0n) })) : parts,
    ),
  },
  "a declined authorization stays held": {
    follow: (known, parts, tailOver) =>
      follow({ ...known, snapshot: known.snapshot && { ...known.snapshot, approved: true } }, parts, tailOver),
  },
};

describe("the model finds", () => {
  test.each(Object.entries(planted))("%s", (_, wrong) => {
    expect(failing({ ...rules, ...wrong })).not.toBeNull();
  });
});

test("the open amount follows from the parts and the events alone", () => {
  const part = (authorizationId: string, position: number, held: bigint): CardPart => ({
    authorizationId,
    position,
    held: atomicOf(held),
    open: atomicOf(held),
    captured: atomicOf(0n),
  });
  const parts = [part("aut_0", 0, 100n), part("aut_1", 1, 50n)];
  const known = withSnapshot(nothing.known, { approved: true, status: "pending", amount: atomicOf(100n), requests: 1, at: 1 });
  expect(openTarget(known, parts, false)).toBe(150n);
  expect(openTarget(withCapture(known, "ipi_1", atomicOf(120n)), parts, false)).toBe(30n);
});
