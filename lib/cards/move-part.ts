import type { Tx } from "#lib/db/client.ts";
import type { CardPart } from "#lib/cards/card-rules.ts";
import { changeCardPart, countIn, type DecidedPart } from "#lib/holds/card-store.ts";
import { captureHold, emptyHold, holdOf, partsOf, raiseHold, releaseHold, type Hold } from "#lib/holds/hold-store.ts";
import { add, countUp, max, rateIn, subtract, UNIT_DECIMALS, zero, type Atomic } from "#lib/money.ts";

/**
 * Captures, raises and releases the hold of one decision. All captures together are counted in the mandate's unit and rounded up, so that
 * any split ends at the same sum. Call lockMandate before. Returns by how much the hold was raised, in the unit.
 */
export async function movePart(tx: Tx, part: DecidedPart, to: Pick<CardPart, "open" | "captured">, now: Date): Promise<Atomic> {
  if (part.open === to.open && part.captured === to.captured) return zero;
  await changeCardPart(tx, part.authorizationId, { open: to.open, captured: to.captured });
  if (part.unitRate === null) return zero;
  const rate = rateIn(part.unitRate);
  const count = (amount: Atomic): Atomic => countUp({ amount, decimals: UNIT_DECIMALS, rate });
  const capture = subtract(count(to.captured), count(part.captured));
  const before =
    (await holdOf(tx, part.authorizationId)) ?? emptyHold({ ...part, buckets: await countIn(tx, part.mandateId, now) });
  const captured = capture > zero ? (await captureHold(tx, before, capture)).hold : before;
  return keepOpen(tx, captured, subtract(count(add(to.captured, to.open)), count(to.captured)));
}

/** A hold that has ended is not opened again. */
async function keepOpen(tx: Tx, hold: Hold, target: Atomic): Promise<Atomic> {
  const { open } = partsOf(hold);
  if (open > target) await releaseHold(tx, hold, "released", subtract(open, target));
  const more = open > zero ? max(subtract(target, open), zero) : zero;
  if (more > zero) await raiseHold(tx, hold, more);
  return more;
}
