import type { LineView } from "#lib/approvals/checkout-view.ts";

export type LineChange = {
  readonly line: LineView;
  readonly was?: LineView;
  readonly kind: "same" | "changed" | "added" | "removed";
};

const sameThing = (a: LineView, b: LineView): boolean =>
  a.productId === b.productId && a.variantId === b.variantId && a.color === b.color && a.size === b.size;

const sameLine = (a: LineView, b: LineView): boolean =>
  a.name === b.name && a.quantity === b.quantity && a.unitAmount === b.unitAmount && a.asset === b.asset;

/** Returns the current lines in their order, then the removed lines. */
export function basketChanges(now: readonly LineView[], before: readonly LineView[]): LineChange[] {
  const left = [...before];
  const changes = now.map((line): LineChange => {
    const exact = left.findIndex((one) => sameThing(one, line) && sameLine(one, line));
    const at = exact < 0 ? left.findIndex((one) => sameThing(one, line)) : exact;
    if (at < 0) return { line, kind: "added" };
    const [was] = left.splice(at, 1);
    return exact < 0 && was ? { line, was, kind: "changed" } : { line, kind: "same" };
  });
  return [...changes, ...left.map((line): LineChange => ({ line, kind: "removed" }))];
}
