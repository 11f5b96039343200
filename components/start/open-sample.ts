import type { Authorization } from "#lib/payment-intent.ts";
import type { Sample } from "#lib/sandbox/samples.ts";

/** A test payment about which a person is asked. */
export type OpenSample = {
  readonly sample: Sample;
  readonly mandateId: string;
  readonly authorization: Authorization;
};

const NAME = "countersign.sample";

/**
 * The browser keeps it, so that the payment goes on when its page is opened again. Returns false if the browser refuses storage:
 * then the payment ends with the page.
 */
export function keepSample(open: OpenSample): boolean {
  try {
    localStorage.setItem(NAME, JSON.stringify(open));
    return true;
  } catch {
    return false;
  }
}

/** Returns false if another tab has taken it, which then pays. */
export function takeSample(): boolean {
  const isKept = localStorage.getItem(NAME) !== null;
  localStorage.removeItem(NAME);
  return isKept;
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
