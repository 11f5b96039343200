import { displayText } from "#lib/money.ts";
import { fixed, sentence } from "#lib/mandates/policy/sentences/sentence.ts";

/* Each sentence has the values of the sentence that denied the payment, as lib/mandates/policy/waive.ts requires. */

const once = "A person allowed this one payment";

export const perPaymentWaived = sentence(82, "satisfied", "limits.perPayment", ({ unit, requested }, limit: string) => ({
  message: `${once} of ${displayText(requested, unit)}, above the limit of ${displayText(limit, unit)} per payment.`,
  pointer: "/limits/perPayment",
  limit,
  requested,
  unit,
}));
export const feeWaived = sentence(83, "satisfied", "maximumFee", ({ unit }, share: string, limit: string) => ({
  message: `${once} with a buyer's fee of ${displayText(share, unit)}, above the policy's ${displayText(limit, unit)}.`,
  pointer: "/maximumFee",
  limit,
  requested: share,
  unit,
}));
export const payeeWaived = fixed(
  84,
  "satisfied",
  "payTo",
  `${once} to an address that the policy does not list.`,
  "/payTo/allow",
);
export const sellerWaived = fixed(
  85,
  "satisfied",
  "sellers",
  `${once} to a seller that the policy does not list.`,
  "/sellers/allow",
);
export const domainWaived = sentence(86, "satisfied", "domains", (_, name: string) => ({
  message: `${once} to ${name}, a domain that the policy does not list.`,
  pointer: "/domains/allow",
}));
export const resourceWaived = fixed(
  87,
  "satisfied",
  "resources",
  `${once} for a resource that the policy does not list.`,
  "/resources",
);
