import { loadOrderFacts } from "#lib/commerce/order/load-order-facts.ts";
import { nextStep } from "#lib/commerce/order/order-state.ts";
import { changeOrder, dueOrders, endLease, leaseOrder, type OrderRow } from "#lib/commerce/order/order-store.ts";
import type { LeaseHolder } from "#lib/commerce/order/order-call.ts";
import { adopt, followOrder } from "#lib/commerce/order/pay-order.ts";
import { database } from "#lib/db/client.ts";
import { actFor } from "#lib/db/request.ts";
import { log } from "#lib/telemetry/log.ts";
import { newId } from "#lib/ids.ts";
import { isProblem } from "#lib/problem.ts";

const BATCH = 16;
const AT_ONCE = 4;
/** Must be longer than the call to a storefront and the look at the chain, or another worker would take the order meanwhile. */
const LEASE_MS = 90_000;

/** Ends orders whose payment has started, even if their agent never calls again. It sends only stored signed payments. */
export async function followOrders(): Promise<number> {
  const due = await database().transaction((tx) => dueOrders(tx, BATCH, LEASE_MS));
  const queue = [...due];
  const worker = async (): Promise<void> => {
    for (let orderId = queue.shift(); orderId !== undefined; orderId = queue.shift()) await followOne(orderId);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return due.length;
}

async function followOne(orderId: string): Promise<void> {
  const lease = newId("request");
  try {
    const order = await leaseOrder(database(), orderId, lease, LEASE_MS);
    // `order` is null if a call of the agent or another worker has the lease.
    if (order) await actFor(order.organizationId, () => goOn(order, { lease, requestId: lease, caller: order }));
  } catch (error) {
    // This problem means that the lease expired and another call has taken it.
    if (isProblem(error) && error.code === "idempotency_in_flight") return;
    log().error({ orderId, error }, "An order could not be followed; it is looked at again");
  } finally {
    await endLease(database(), orderId, lease);
  }
}

async function goOn(order: OrderRow, on: LeaseHolder): Promise<void> {
  const { facts, execution, now } = await loadOrderFacts(order, { caller: on.caller, credential: null });
  const step = facts.settlement === null && facts.state !== "processing" ? "wait" : nextStep(facts, now);
  if (step === "adopt" && execution) await followOrder((await adopt(order, on, execution)).order, on);
  else if (step === "follow") await followOrder(order, on);
  // Stop the checks: the order has ended, or no payment was sent, so that only the agent's next call can continue the order.
  else await changeOrder(database(), order.orderId, on.lease, {}, false);
}
