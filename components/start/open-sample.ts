import type { Authorization } from "#lib/payment-intent.ts";
import type { Sample } from "#lib/sandbox/samples.ts";

/** A test payment about which a person is asked. */
export type OpenSample = {
  readonly sample: Sample;
  readonly mandateId: string;
  readonly authorization: Authorization;
  readonly checkoutIntentId?: string;
};

const NAME = "countersign.sample";

/** The browser keeps it, so that the payment goes on when its page is opened again. Without storage it ends with the page. */
export function keepSample(open: OpenSample | null): void {
  try {
    if (open === null) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, JSON.stringify(open));
  } catch {
    // A browser may refuse storage.
  }
}

/** The open test payment under one of the mandates. */
export function openSample(mandateIds: readonly string[]): OpenSample | null {
  try {
    const open = JSON.parse(localStorage.getItem(NAME) ?? "null") as OpenSample | null;
    return open !== null && mandateIds.includes(open.mandateId) ? open : null;
  } catch {
    return null;
  }
}
