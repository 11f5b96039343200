import type { OrderRow } from "#lib/commerce/order-store.ts";
import type { KeyCaller, SessionCaller } from "#lib/http/operation.ts";

/** One call about an order: who asks, with which credential, and under which lease. */
export type Ordering = {
  readonly caller: (KeyCaller | SessionCaller) & { readonly organizationId: string };
  readonly requestId: string;
  readonly request: Request;
  /** As it was sent, and the hash that tells it from others. */
  readonly credential: { readonly text: string; readonly hash: string } | null;
  /** Where the same call is repeated. */
  readonly url: string;
  readonly lease: string;
};

/** What follows a payment needs no caller: its agent, or a worker when the agent is gone. */
export type Following = Pick<Ordering, "requestId" | "lease"> & {
  readonly caller: { readonly organizationId: string; readonly environment: string };
};

/** What a step made of an order. */
export type Stepped = {
  readonly order: OrderRow;
  /** Whether the next step follows at once. */
  readonly goOn: boolean;
  /** Why this credential was refused before it was sent; another one may follow. */
  readonly refused?: { readonly executionId: string; readonly code: string };
};
