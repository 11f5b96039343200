import type { stepUp as stepUpContract } from "#lib/approvals/decision/contract.ts";
import { CHECKOUT_PATH } from "#lib/approvals/poll-checkout.ts";
import type * as contract from "#lib/commerce/checkout-contract.ts";
import { atAddress } from "#lib/http/client.ts";
import type { challengePasskey as challengeContract } from "#lib/identity/passkeys/contract.ts";

export const getCheckout = atAddress<typeof contract.getCheckout>({ id: "getCheckout", method: "GET", path: CHECKOUT_PATH });

export const approveCheckout = atAddress<typeof contract.approveCheckout>({
  id: "approveCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/approve",
});

export const rejectCheckout = atAddress<typeof contract.rejectCheckout>({
  id: "rejectCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/reject",
});

export const extendCheckout = atAddress<typeof contract.extendCheckout>({
  id: "extendCheckout",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/extend",
});

export const takeBackApproval = atAddress<typeof contract.takeBackApproval>({
  id: "takeBackApproval",
  method: "POST",
  path: "/api/v1/agent/commerce/checkouts/{checkoutIntentId}/take-back",
});

export const stepUp = atAddress<typeof stepUpContract>({ id: "stepUp", method: "POST", path: "/api/v1/auth/step-up" });

export const challengePasskey = atAddress<typeof challengeContract>({
  id: "challengePasskey",
  method: "POST",
  path: "/api/v1/auth/passkey-challenges",
});
