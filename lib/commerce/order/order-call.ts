import type { OrderRow } from "#lib/commerce/order/order-store.ts";
import type { KeyCaller, SessionCaller } from "#lib/http/operation.ts";

/** `lease` is a new id for each call. changeOrder changes the order only while the order stores this id. */
export type OrderCall = {
  readonly caller: (KeyCaller | SessionCaller) & { readonly organizationId: string };
  readonly requestId: string;
  readonly request: Request;
  /** The text of the signed payment and its SHA-256 hash (credentialHash); null if the call has none. */
  readonly credential: { readonly text: string; readonly hash: string } | null;
  /** The URL to which the agent sends its next call about the order. */
  readonly url: string;
  readonly lease: string;
  /** The time of performance.now() at which the call begins no further step and stops waiting for an offer. */
  readonly until: number;
};

/** The part of a call that `adopt` and `follow` need. The worker of followOrders has only this part. */
export type LeaseHolder = Pick<OrderCall, "requestId" | "lease"> & {
  readonly caller: { readonly organizationId: string; readonly environment: string };
};

export type StepResult = {
  readonly order: OrderRow;
  /** Whether the order may continue in this call; after a decision, only an order that waits for its payment continues. */
  readonly goOn: boolean;
  /** The payment of this call was refused or has failed; `code` says why, and the agent may try again. */
  readonly refused?: { readonly executionId: string; readonly code: string };
};
