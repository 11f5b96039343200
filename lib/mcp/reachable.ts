import { route } from "#lib/api/route.ts";
import { cancelCheckout } from "#lib/commerce/cancel-checkout.ts";
import * as checkouts from "#lib/commerce/checkout-contract.ts";
import { getCheckout } from "#lib/commerce/get-checkout.ts";
import * as orders from "#lib/commerce/order-contract.ts";
import { placeOrder } from "#lib/commerce/place-order.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";
import type { Handler, Operation } from "#lib/http/operation.ts";
import type { Reply } from "#lib/http/reply.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { getRemaining } from "#lib/mandates/get-remaining.ts";
import { simulateMandate } from "#lib/mandates/lifecycle/simulate-mandate.ts";
import { listMandates } from "#lib/mandates/list-mandates.ts";
import { authenticateAgent } from "#lib/identity/oauth/authenticate-agent.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import * as payments from "#lib/payments/contract.ts";
import * as receipts from "#lib/payments/receipts/contract.ts";
import { getPaymentReceipt } from "#lib/payments/receipts/get-payment-receipt.ts";
import { recordPayment as recordOperation } from "#lib/payments/executions/record-contract.ts";
import { recordPayment } from "#lib/payments/executions/record-payment.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import * as sandbox from "#lib/sandbox/contract.ts";
import { signSamplePayment } from "#lib/sandbox/sign-sample-payment.ts";

export type Served<O extends Operation> = { readonly operation: O; readonly serve: (request: Request) => Promise<Reply> };

const served = <O extends Operation>(operation: O, handler: Handler<O>): Served<O> => ({
  operation,
  serve: route(operation, handler, authenticateAgent).plain,
});

/**
 * Each call goes through the code of the HTTP API, with the same rights, limits, problems and audit events.
 * None of these operations approves, raises a limit or revokes.
 */
export const reachable = {
  authorizePayment: served(payments.authorizePayment, authorizePayment),
  cancelCheckout: served(checkouts.cancelCheckout, cancelCheckout),
  executePayment: served(payments.executePayment, executePayment),
  getCheckout: served(checkouts.getCheckout, getCheckout),
  getMandate: served(mandates.getMandate, getMandate),
  getPayment: served(payments.getPayment, getPayment),
  getPaymentReceipt: served(receipts.getPaymentReceipt, getPaymentReceipt),
  getRemaining: served(mandates.getRemaining, getRemaining),
  listMandates: served(mandates.listMandates, listMandates),
  listPayments: served(payments.listPayments, listPayments),
  placeOrder: served(orders.placeOrder, placeOrder),
  recordPayment: served(recordOperation, recordPayment),
  signSamplePayment: served(sandbox.signSamplePayment, signSamplePayment),
  simulateMandate: served(mandates.simulateMandate, simulateMandate),
} as const;
