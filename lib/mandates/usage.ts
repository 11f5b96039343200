import type { Usage } from "#lib/mandates/policy/facts.ts";
import type { Bucket } from "#lib/mandates/policy/windows.ts";
import { add, zero, type Atomic } from "#lib/money.ts";

/** The next decision then counts the reserved amount. */
export function addHold(usage: Usage, amount: Atomic, buckets: readonly Bucket[], at: Date): void {
  usage.reserved = add(usage.reserved, amount);
  usage.lastHeldAt = at;
  for (const { windowKey, start, liveUntil } of buckets) {
    let window = usage.buckets.get(windowKey);
    if (!window) usage.buckets.set(windowKey, (window = []));
    let bucket = window.find((one) => one.start.getTime() === start.getTime());
    if (!bucket) window.push((bucket = { start, liveUntil, spent: zero, reserved: zero, payments: 0 }));
    bucket.reserved = add(bucket.reserved, amount);
    bucket.payments += 1;
  }
}
