import { know } from "#lib/commerce/order-facts.ts";
import { nextStep } from "#lib/commerce/order.ts";
import { changeOrder, dueOrders, endLease, leaseOrder, type OrderRow } from "#lib/commerce/order-store.ts";
import type { Following } from "#lib/commerce/ordering.ts";
import { adopt, follow } from "#lib/commerce/pay-order.ts";
import { database } from "#lib/db/client.ts";
import { actFor } from "#lib/db/request.ts";
import { log } from "#lib/telemetry/log.ts";
import { newId } from "#lib/ids.ts";
import { isProblem } from "#lib/problem.ts";

const BATCH = 16;
const AT_ONCE = 4;
/** Longer than a storefront may take with its answer. */
const LEASE_MS = 90_000;

/**
 * Takes the orders whose payment is under way to where the evidence leads, also when their agent never asks again. It sends the
 * credential that was bound, never another, and asks for none. Answers how many were due.
 */
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
    // Null: its agent is working on it at this moment.
    if (order) await actFor(order.organizationId, () => goOn(order, { lease, requestId: lease, caller: order }));
  } catch (error) {
    // Another process took it over meanwhile.
    if (!isProblem(error)) log().error({ orderId, error }, "An order could not be followed; it is looked at again");
  } finally {
    await endLease(database(), orderId, lease);
  }
}

async function goOn(order: OrderRow, on: Following): Promise<void> {
  const { facts, execution, now } = await know(order, { caller: on.caller, credential: null });
  const step = facts.settlement === null && facts.state !== "processing" ? "wait" : nextStep(facts, now);
  if (step === "adopt" && execution) await follow((await adopt(order, on, execution)).order, on);
  else if (step === "follow") await follow(order, on);
  // Nothing went out, or it is over: the agent's next call decides.
  else await changeOrder(database(), order.orderId, on.lease, {}, false);
}
