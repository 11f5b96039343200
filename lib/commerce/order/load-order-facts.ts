import { clock } from "#lib/audit/transact.ts";
import type { OrderFacts, OrderState } from "#lib/commerce/order/order-state.ts";
import type { OrderRow } from "#lib/commerce/order/order-store.ts";
import type { LeaseHolder, OrderCall } from "#lib/commerce/order/order-call.ts";
import { findApproval, findCheckout } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { executionsOf, findAuthorization, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { holdOf } from "#lib/holds/hold-store.ts";
import { provingRegistration } from "#lib/execute/prove-payment.ts";
import { expectedPayment } from "#lib/payments/executions/verify-credential.ts";
import type { ApprovalStatus, CheckoutStatus, SettlementStatus } from "#lib/vocabulary.ts";

/** `now` is the database's time. */
export type LoadedOrder = { readonly facts: OrderFacts; readonly execution: ExecutionRow | null; readonly now: Date };

type FactsRequest = {
  readonly caller: LeaseHolder["caller"];
  readonly credential: Pick<NonNullable<OrderCall["credential"]>, "hash"> | null;
};

/** False for a failed execution, because another signed payment may follow while the amount is reserved. */
const counts = ({ settlementStatus }: ExecutionRow): boolean => settlementStatus !== "failed";

/** Whether the service signs the payment itself, so that the agent need not sign one. False before an authorization. */
export async function proves({ authorizationId }: OrderRow, caller: LeaseHolder["caller"]): Promise<boolean> {
  const authorization = authorizationId && (await findAuthorization(database(), caller, authorizationId));
  if (!authorization || authorization.payTo === null) return false;
  return (await provingRegistration(authorization, expectedPayment(authorization))) !== null;
}

export async function loadOrderFacts(order: OrderRow, { credential, caller }: FactsRequest): Promise<LoadedOrder> {
  const db = database();
  const { authorizationId, checkoutIntentId, orderId } = order;
  const hold = authorizationId === null ? null : await holdOf(db, authorizationId);
  const checkout = checkoutIntentId === null ? null : await findCheckout(db, caller, checkoutIntentId);
  const approval = checkout && (await findApproval(db, checkout.checkoutIntentId));
  // Read last, so that hold, checkout and approval show no payment whose execution is missing here.
  const executions = authorizationId === null ? [] : await executionsOf(db, [authorizationId]);
  const execution = executions.find(counts) ?? null;
  const facts: OrderFacts = {
    state: order.status as OrderState,
    continued: order.attempt === 0 && authorizationId !== null,
    credential: credential?.hash ?? null,
    proves: order.status === "paymentCredentialRequired" && (await proves(order, caller)),
    sent: order.credentialHash ?? execution?.credentialHash ?? null,
    checkout: checkout && {
      status: checkout.status as CheckoutStatus,
      expiresAt: checkout.expiresAt,
      approval: approval && { status: approval.status as ApprovalStatus, expiresAt: approval.expiresAt },
      own: checkout.orderId === orderId,
    },
    holdUntil: hold?.status === "held" ? hold.expiresAt : null,
    settlement: (execution?.settlementStatus as SettlementStatus | undefined) ?? null,
  };
  return { facts, execution, now: await clock(db) };
}
