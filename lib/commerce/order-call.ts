import type { OrderRow } from "#lib/commerce/order-store.ts";
import type { KeyCaller, SessionCaller } from "#lib/http/operation.ts";

/** One call about an order, with its caller, its credential and its lease. */
export type OrderCall = {
  readonly caller: (KeyCaller | SessionCaller) & { readonly organizationId: string };
  readonly requestId: string;
  readonly request: Request;
  /** The credential's text and its SHA-256. */
  readonly credential: { readonly text: string; readonly hash: string } | null;
  /** The URL at which the agent repeats this call. */
  readonly url: string;
  readonly lease: string;
};

/** The part of a call that is needed to follow a payment. A worker has no caller with a credential. */
export type LeaseHolder = Pick<OrderCall, "requestId" | "lease"> & {
  readonly caller: { readonly organizationId: string; readonly environment: string };
};

/** The result of a step. */
export type StepResult = {
  readonly order: OrderRow;
  /** Whether the next step of the order runs in the same call. */
  readonly goOn: boolean;
  /**
   * Set if the credential of this call was refused before it was sent, with the code of the refusal. The agent may try another credential.
   */
  readonly refused?: { readonly executionId: string; readonly code: string };
};
