import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { viewCheckout } from "#lib/pages/buyer/view-checkout.ts";
import { isProblem } from "#lib/problem.ts";

/** Calls viewCheckout, which records what this session was shown, for each id. Ids that are not found are left out. */
export async function viewTogether(
  checkoutIntentIds: readonly string[],
  caller: SessionCaller,
): Promise<readonly CheckoutView[]> {
  const views: CheckoutView[] = [];
  for (const checkoutIntentId of checkoutIntentIds) {
    const view = await viewCheckout({ checkoutIntentId }, caller).catch((error: unknown) => {
      if (isProblem(error) && error.code === "not_found") return null;
      throw error;
    });
    if (view !== null) views.push(view);
  }
  return views;
}
