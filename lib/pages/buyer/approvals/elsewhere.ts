import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { database } from "#lib/db/client.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import { isUnitChain } from "#lib/money.ts";
import { presentPayment } from "#lib/payments/present-execution.ts";

/** Empty unless the payment is made elsewhere. */
export async function elsewhereOf(checkout: CheckoutRow): Promise<Pick<CheckoutView, "elsewhere">> {
  if (checkout.authorizationId === null || !isUnitChain(checkout.chain)) return {};
  const row = await findAuthorization(database(), checkout, checkout.authorizationId);
  if (!row) return {};
  const { payee: account, reference = "" } = presentPayment(row, [], "").intent;
  return { elsewhere: { reference, ...(account && { account }) } };
}
